/** What programs write where there is nothing: databases, R, pandas and Excel. */
const NULL = /^ *(?:\\N|NULL|null|NA|N\/A|n\/a|#N\/A|NaN|nan|<NA>|\(null\)) *$/;
const NULL_LENGTH_MAX = 12;

export function isNull(cell: string): boolean {
  return cell.length <= NULL_LENGTH_MAX && NULL.test(cell);
}
