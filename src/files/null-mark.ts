/** What programs write where there is nothing: databases, R, pandas and Excel. */
const NULL = /^ *(?:\\N|NULL|null|NA|N\/A|n\/a|#N\/A|NaN|nan|<NA>|\(null\)) *$/;
const NULL_LENGTH_MAX = 12;

export function isNull(cell: string): boolean {
  return cell.length <= NULL_LENGTH_MAX && NULL.test(cell);
}

/** As in `〃`, `ditto alba`. A dash alone is nothing. */
const DITTO =
  /^(?:(?:〃|[-–—]?["”“„″]+[-–—]?|''|’’|,,|[Dd]it?to|[Dd](?:to|o)\.?|[Ii]dem|id\.|s\.\s?o\.)(?:\s+\p{Ll}.*)?|[-–—]+\s+\p{Ll}.*)$/su;

/** Whether it says that this is what the row above has, or begins so. */
export function isDitto(text: string): boolean {
  return DITTO.test(text);
}
