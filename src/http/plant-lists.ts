import { ownerOf } from "../auth/principal.ts";
import { invalidQuery } from "../domain/errors.ts";
import { toFilter } from "../domain/plant-filter.ts";
import { asPlantId, toText } from "../domain/plant.ts";
import type { PlantId } from "../domain/plant.ts";
import type { Order, OrderedPage, Page } from "../store/page.ts";
import type { ListQuery, PlantStore } from "../store/plants.ts";
import type { PlantsFor, QueuedPlants } from "../store/queued-plants.ts";
import { isFound } from "../domain/terms.ts";
import { linkTo, parseCursor, toCursor } from "./cursor.ts";
import type { LinkQuery } from "./cursor.ts";
import { PAGE_BYTES_MAX, toPageTexts } from "./page-texts.ts";
import type { Represent } from "./representation.ts";
import type { Call, Handlers } from "./router.ts";

type ListOptions = Readonly<{ plants: PlantStore; plantsFor: PlantsFor; represent: Represent }>;

type ListParameters = Call<"listPlants">["parameters"];
type Sort = ListParameters["sort"];

/** A page as texts, and the parameters of the next one. */
type TextPage = Readonly<{ texts: readonly string[]; next: LinkQuery | undefined }>;

/** @limit reads: plants of a page */
const PAGE_MAX = 1000;

export function listHandlers({ plants, plantsFor, represent }: ListOptions): Pick<Handlers, "listPlants"> {
  /** A page of one plant, or none. */
  async function findOne(id: PlantId, query: ListQuery): Promise<Page> {
    const isBehind = query.after === undefined || (query.descending ? id < query.after : id > query.after);
    const plant = isBehind ? await plants.find(id) : undefined;
    return { plants: plant && isFound(plant, query) ? [plant] : [], isLast: true };
  }

  async function findPage(parameters: ListParameters, limit: number, lists: QueuedPlants): Promise<TextPage> {
    const { sort, after, cursor, id } = parameters;
    const selected = { ...toFilter(parameters), limit, bytesMax: PAGE_BYTES_MAX };
    const query = { ...selected, after: after === undefined ? undefined : asPlantId(after), descending: sort === "-id" };
    const place = isById(sort) || cursor === undefined ? undefined : parseCursor(sort, cursor);
    if (id !== undefined) return byId(await findOne(asPlantId(id), query), "id");
    if (isById(sort)) return byId(await lists.list(query), sort);
    return inOrder(sort, await lists.listOrdered({ ...selected, order: sort, after: place }));
  }

  return {
    async listPlants({ parameters, headers, principal }) {
      const { tag, untagged, q } = parameters;
      checkStart(parameters);
      const limit = Math.min(parameters.limit, PAGE_MAX);
      const { texts, next } = await findPage(parameters, limit, plantsFor(ownerOf(principal)));
      const link = next ? linkTo({ limit, ...next, tag, untagged: untagged || undefined, q }) : {};
      return represent({ status: 200, body: `[${texts.join()}]`, headers: link }, headers);
    },
  };
}

function isById(sort: Sort): sort is "id" | "-id" {
  return sort === "id" || sort === "-id";
}

function byId({ plants, isLast }: Page, sort: "id" | "-id"): TextPage {
  const texts = toPageTexts(plants, toText);
  const last = plants[texts.length - 1];
  const isMore = !isLast || texts.length < plants.length;
  return { texts, next: isMore && last ? { sort: sort === "id" ? undefined : sort, after: last.id } : undefined };
}

function inOrder(sort: Order, { plants, places, next }: OrderedPage): TextPage {
  const texts = toPageTexts(plants, toText);
  const place = texts.length < plants.length ? places[texts.length - 1] : next;
  return { texts, next: place && { sort, cursor: toCursor(sort, place) } };
}

/** A list by id begins behind an id, any other at a cursor. */
function checkStart({ sort, after, cursor }: ListParameters): void {
  if (isById(sort) ? cursor === undefined : after === undefined) return;
  const message = isById(sort)
    ? "The query parameter `cursor` is for lists with another `sort` than id: send that too, or `after`."
    : "The query parameter `after` is for lists that are sorted by id: follow the `Link` instead.";
  throw invalidQuery(message);
}
