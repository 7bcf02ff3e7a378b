import type { PlantedBug } from "./planted.ts";

/** Every plant is answered as created before its commit begins. */
export const ANSWER_BEFORE_COMMIT: readonly PlantedBug[] = [
  {
    file: "src/store/batch.ts",
    from: "if (running) await commit(running.plants).then(running.outcomes.resolve, running.outcomes.reject);",
    to: 'if (running) running.outcomes.resolve(running.plants.map(() => "created")), await new Promise((go) => setTimeout(go, 5)), await commit(running.plants).catch(() => {});',
  },
];
