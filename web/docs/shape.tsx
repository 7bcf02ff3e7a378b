import { fieldsOf, limitsText, nameOf, typeText } from "./document.ts";
import type { Reference, Schema } from "./document.ts";
import { Code, Words } from "./prose.tsx";

/** A type in a few words, with a link to where it is described. */
export function TypeName({ schema }: Readonly<{ schema: Schema }>) {
  const { $ref, items } = schema;
  if ($ref) return <a href={`#shape-${nameOf($ref)}`}>{nameOf($ref)}</a>;
  if (items) {
    return (
      <>
        list of <TypeName schema={items} />
      </>
    );
  }
  return <>{typeText(schema)}</>;
}

/** The fields of an object; what is no object in a line. */
export function Fields({ schema, schemas }: Readonly<{ schema: Schema; schemas: Reference["schemas"] }>) {
  const fields = fieldsOf(schema, schemas);
  if (fields.length === 0) {
    return (
      <p>
        <TypeName schema={schema} />
      </p>
    );
  }
  return (
    <dl class="docs-fields">
      {fields.map(({ name, schema: member, isRequired }) => (
        <div key={name}>
          <dt>
            <Code>{name}</Code> <TypeName schema={member} /> {isRequired && <em>required</em>} <small>{limitsText(member)}</small>
          </dt>
          <dd>
            <Words text={member.description ?? ""} />
            {member.items?.properties && <Fields schema={member.items} schemas={schemas} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
