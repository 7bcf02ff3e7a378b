import { encodeQR } from "qr";
import type { Plant } from "../../src/client/client.ts";
import { nameLabel, tagLabel } from "../plants/label.ts";

type LabelProps = Readonly<{ plant: Plant; /** Where the page shows it. */ address: string }>;

/** What is written on one label. */
export function Label({ plant: { id, name, tag }, address }: LabelProps) {
  const { path, modules } = toPath(address);
  return (
    <>
      <div class="labels-text">
        <p class="labels-name" dir="auto">
          {nameLabel(name)}
        </p>
        {tag === undefined ? null : (
          <p class="labels-tag" dir="auto">
            {tagLabel(tag)}
          </p>
        )}
        <p class="labels-id">{String(id)}</p>
      </div>
      <svg class="labels-code" viewBox={`0 0 ${modules} ${modules}`} role="img" aria-label={`QR code of ${address}`}>
        <path d={path} />
      </svg>
    </>
  );
}

/** The white border that a scanner needs, in modules. */
const BORDER = 4;

/** A QR code as one path: a line for each run of dark modules. */
function toPath(text: string): Readonly<{ path: string; modules: number }> {
  const rows = encodeQR(text, "raw", { ecc: "medium", border: BORDER });
  const path = rows.flatMap((row, y) =>
    Array.from(
      row
        .map((isDark) => (isDark ? "1" : "0"))
        .join("")
        .matchAll(/1+/g),
      (run) => `M${run.index} ${y}h${run[0].length}v1h-${run[0].length}z`,
    ),
  );
  return { path: path.join(""), modules: rows.length };
}
