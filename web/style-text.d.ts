/** A sheet that a script brings along: `import css from "./labels.css" with { type: "text" }`. */
declare module "*.css" {
  const text: string;
  export default text;
}
