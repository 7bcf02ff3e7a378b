import type { Schemas } from "../../contract/generated/schemas.ts";
import type { PlantStore } from "../store/plants.ts";
import type { Represent } from "./representation.ts";
import type { Handlers } from "./router.ts";

/** The operation on tags. */
export function tagHandlers(plants: PlantStore, represent: Represent): Pick<Handlers, "listTags"> {
  return {
    async listTags({ parameters: { limit }, headers }) {
      const { tags, ageMs } = await plants.countTags();
      const body = JSON.stringify(tags.slice(0, limit) satisfies Schemas["TagList"]);
      return represent({ status: 200, body, headers: { age: String(Math.ceil(ageMs / 1000)) } }, headers);
    },
  };
}
