import type { Random } from "../random.ts";
import type { Wire } from "../raw-http.ts";
import type { Asker } from "./asker.ts";

type Plant = Readonly<{ id: number; name: string; tag: string }>;

/** Plants above 0 that come and go, one change of each at a time, so that the right state of each is known. */
export function createGarden({ expectAnswer }: Asker, random: Random) {
  /** Plants without a request under way. */
  const idle: Plant[] = [];
  let lastId = 0;

  async function create(wire: Wire): Promise<void> {
    lastId += 1;
    const plant = { id: lastId, name: `plant ${lastId}`, tag: `tag ${lastId % 20}` };
    const { id: _, ...content } = plant;
    await expectAnswer(wire, { method: "POST", target: "/plants", body: JSON.stringify(plant) }, 200, JSON.stringify(content));
    idle.push(plant);
  }

  /** A request about the plant that has waited longest; a create if there is none. */
  async function withPlant(wire: Wire, act: (plant: Plant) => Promise<unknown>): Promise<void> {
    const plant = idle.shift();
    await (plant ? act(plant) : create(wire));
  }

  async function change(wire: Wire, method: "PUT" | "PATCH", { id, tag }: Plant): Promise<void> {
    const plant = { id, name: `plant ${id} of ${Math.trunc(random() * 1000)}`, tag };
    const body = JSON.stringify(method === "PUT" ? { name: plant.name, tag } : { name: plant.name });
    await expectAnswer(wire, { method, target: `/plants/${id}`, body }, 200, JSON.stringify(plant));
    idle.push(plant);
  }

  async function read(wire: Wire, plant: Plant): Promise<void> {
    await expectAnswer(wire, { method: "GET", target: `/plants/${plant.id}` }, 200, JSON.stringify(plant));
    idle.push(plant);
  }

  return {
    deeds: {
      create,
      read: (wire: Wire) => withPlant(wire, (plant) => read(wire, plant)),
      put: (wire: Wire) => withPlant(wire, (plant) => change(wire, "PUT", plant)),
      patch: (wire: Wire) => withPlant(wire, (plant) => change(wire, "PATCH", plant)),
      remove: (wire: Wire) => withPlant(wire, ({ id }) => expectAnswer(wire, { method: "DELETE", target: `/plants/${id}` }, 204)),
    },
    /** Those that must exist, once nothing is under way. */
    ids: () => idle.map(({ id }) => id),
  };
}
