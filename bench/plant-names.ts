import { asPlantId } from "../src/domain/plant.ts";
import type { NewPlant } from "../src/domain/plant.ts";

const GENERA =
  `Abies Acer Adiantum Agave Aglaonema Allium Aloe Alocasia Anthurium Aquilegia Begonia Betula Calathea Camellia Campanula Carex
  Clematis Crocus Cyclamen Dahlia Dianthus Dracaena Drosera Echeveria Euphorbia Ficus Fuchsia Galanthus Geranium Haworthia Hedera
  Helleborus Hosta Hoya Hydrangea Ilex Iris Kalanchoe Lavandula Lilium Magnolia Mammillaria Maranta Monstera Narcissus Nepenthes
  Nymphaea Opuntia Paeonia Pelargonium Peperomia Philodendron Pinus Primula Quercus Rhododendron Rosa Salvia Sansevieria Sarracenia
  Saxifraga Sedum Sempervivum Tillandsia Tulipa Viola Yucca Zamioculcas`.split(/\s+/);
const EPITHETS =
  `acaulis alba alpina amabilis angustifolia argentea aurea australis bicolor borealis campestris canadensis chinensis coccinea
  communis cordata crassifolia deliciosa elegans europaea fragrans glabra glauca gracilis grandiflora hederifolia horrida humilis
  japonica lanceolata latifolia longifolia lutea macrophylla maculata major maritima microphylla minor montana nana nigra nivalis
  odorata officinalis orientalis palustris parviflora pendula perennis pubescens pumila purpurea repens rotundifolia rubra sativa
  sempervirens spinosa sylvestris tomentosa tricolor undulata variegata viridis vulgaris`.split(/\s+/);
const CULTIVARS =
  `Albo Björn Crème Dawn Étoile Frost Gold Königin Luna Marble Moonlight Nana Pearl Rubra Señorita Snow Sunrise Zebra`.split(" ");
const PLACES = ["bed", "greenhouse", "shelf", "nursery tray", "Gewächshaus", "terrasse sud"];
const TAGS_MAX = 300;
const OTHERS = ["苔の庭", "Ромашка лекарственная", "Ελιά", "זית", "서양민들레", "किनारा"];

/** Numbers as random as a name needs, for a plant and a purpose: murmur3's finalizer. */
function draw(number: number, purpose: number, choices: number): number {
  let bits = Math.imul(number ^ Math.imul(purpose, 0x9e3779b9), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  return ((bits ^ (bits >>> 15)) >>> 0) % choices;
}

/** The plant with this number, from 1 on, always the same one. Few kinds of plants are frequent, and many are rare. */
export function plantOf(number: number): NewPlant {
  const tag = tagOf(number);
  return { id: asPlantId(BigInt(number)), name: nameOf(number), ...(tag === undefined ? {} : { tag }) };
}

/** A positive id in no order, another one for each number: two steps of splitmix64, neither of which maps two to one. */
export function randomIdOf(number: number): bigint {
  const spread = BigInt.asUintN(63, BigInt(number) * 0x9e3779b97f4a7c15n);
  return BigInt.asUintN(63, (spread ^ (spread >> 31n)) * 0xbf58476d1ce4e5b9n);
}

function nameOf(number: number): string {
  const genus = GENERA[Math.trunc((draw(number, 1, 1000) / 1000) ** 2 * GENERA.length)]!;
  const species = `${genus} ${EPITHETS[Math.trunc((draw(number, 2, 1000) / 1000) ** 2 * EPITHETS.length)]!}`;
  const kind = draw(number, 3, 100);
  if (kind < 55) return species;
  if (kind < 80) return `${species} '${CULTIVARS[draw(number, 4, CULTIVARS.length)]!}'`;
  if (kind < 98) return `${species} ${1950 + draw(number, 5, 76)}-${draw(number, 6, 10_000)}`;
  return OTHERS[draw(number, 7, OTHERS.length)]!;
}

/** The most frequent has a tenth of all plants, the rarest one of 2,500; a fifth have none. */
function tagOf(number: number): string | undefined {
  if (draw(number, 8, 5) === 0) return undefined;
  const place = Math.trunc((TAGS_MAX + 1) ** (draw(number, 9, 1_000_000) / 1_000_000));
  return place === 1 ? "houseplant" : `${PLACES[place % PLACES.length]!} ${place}`;
}
