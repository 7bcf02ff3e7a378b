/** Where the labels of a sheet are, in millimetres. On a roll, a sheet is one label. */
export type Sheet = Readonly<{
  /** What it is called, and how many labels it has. */
  name: string;
  page: Readonly<{ width: number; height: number }>;
  label: Readonly<{ width: number; height: number }>;
  columns: number;
  rows: number;
  left: number;
  top: number;
  /** From the left edge of a label to that of the next, and from the upper one. */
  pitch: Readonly<{ x: number; y: number }>;
}>;

const A4 = { width: 210, height: 297 };
const LETTER = { width: 215.9, height: 279.4 };

/** By the makers' own drawings. */
export const SHEETS: readonly Sheet[] = [
  sheet("Avery L7160, 63.5 × 38.1 mm", A4, [63.5, 38.1], { columns: 3, rows: 7, left: 7.2, top: 15.15, gap: 2.5 }),
  sheet("Avery L7159, 63.5 × 33.9 mm", A4, [63.5, 33.9], { columns: 3, rows: 8, left: 7.2, top: 12.9, gap: 2.5 }),
  sheet("Avery L7163, 99.1 × 38.1 mm", A4, [99.1, 38.1], { columns: 2, rows: 7, left: 4.65, top: 15.15, gap: 2.6 }),
  sheet("Avery Zweckform 3490, 70 × 36 mm", A4, [70, 36], { columns: 3, rows: 8, left: 0, top: 4.5, gap: 0 }),
  sheet("Avery 5160, 2⅝ × 1 inch", LETTER, [66.675, 25.4], { columns: 3, rows: 10, left: 4.7625, top: 12.7, gap: 3.175 }),
  sheet("Avery 5163, 4 × 2 inch", LETTER, [101.6, 50.8], { columns: 2, rows: 5, left: 3.96875, top: 12.7, gap: 4.7625 }),
  roll("Roll, 62 × 29 mm", 62, 29),
  roll("Roll, 62 mm, cut at 40 mm", 62, 40),
  roll("Roll, 89 × 36 mm", 89, 36),
  roll("Roll, 57 × 32 mm", 57, 32),
];

export function labelsOn({ columns, rows }: Sheet): number {
  return columns * rows;
}

/** The left upper corner of the label at this place, from 0, row by row. */
export function cornerOf({ columns, left, top, pitch }: Sheet, at: number): Readonly<{ x: number; y: number }> {
  return { x: left + (at % columns) * pitch.x, y: top + Math.floor(at / columns) * pitch.y };
}

type Layout = Readonly<{ columns: number; rows: number; left: number; top: number; /** Between two columns. */ gap: number }>;

function sheet(name: string, page: Sheet["page"], [width, height]: readonly [number, number], { gap, ...layout }: Layout): Sheet {
  return { name, page, label: { width, height }, ...layout, pitch: { x: width + gap, y: height } };
}

function roll(name: string, width: number, height: number): Sheet {
  return sheet(name, { width, height }, [width, height], { columns: 1, rows: 1, left: 0, top: 0, gap: 0 });
}
