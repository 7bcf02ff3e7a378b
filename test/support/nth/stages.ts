import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import type { Random } from "../random.ts";
import { inForm } from "../run-form.ts";
import { LOSSES, readImage, replay, writeImage } from "../power/image.ts";
import type { Stage } from "../power/image.ts";
import { parseTrace } from "../trace.ts";
import type { Call } from "../trace.ts";

type StagesOptions = Readonly<{
  data: string;
  /** The files on which calls are seen. */
  files: readonly string[];
  random: Random;
}>;

const IMAGES_EACH = inForm(1, 10);

/** What each process in turn did to the files of a data folder. */
export function createStages({ data, files, random }: StagesOptions) {
  const stages: (Stage & { moment: number })[] = [];
  return {
    /** Keeps what an ended process did until a moment, and returns its calls. */
    keep(trace: string, moment: number): readonly Call[] {
      const left = [...readImage(data)].filter(([name]) => files.includes(name));
      const calls = parseTrace(trace);
      stages.push({ calls, lines: trace.split("\n").length, left: new Map(left), moment });
      return calls;
    },
    /**
     * What is wrong with the disk after a power cut right after each of the processes. Only if all files of the plants
     * are seen.
     */
    cutPower(findFaults: (folder: string, moment: number) => readonly string[]): string[] {
      const disk = replay(data, stages);
      const folder = join(temporaryFolder(), "image");
      const losses = Array.from({ length: IMAGES_EACH }, () => LOSSES).flat();
      let line = 0;
      return stages.flatMap(({ lines, moment }) => {
        line += lines;
        disk.advance(line);
        return losses.flatMap((loss) => {
          writeImage(disk.image(loss, random), folder);
          return findFaults(folder, moment).map((fault) => `${loss.what}: ${fault}`);
        });
      });
    },
  };
}
