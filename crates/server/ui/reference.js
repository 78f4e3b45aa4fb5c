// The reference of the API, rendered from /openapi.json.
import {h, show, theme} from "./dom.js";

theme();
const main = document.getElementById("main");
const spec = await (await fetch("/openapi.json")).json();
const named = ref => spec.components.schemas[ref.split("/").pop()];

function paragraphs(text) {
  const inline = part => part.split(/(`[^`]+`)/).map(piece => piece.startsWith("`") ? h("code", {}, piece.slice(1, -1)) : piece);
  return (text ?? "").split("\n\n").filter(Boolean).map(part => h("p", {}, inline(part)));
}

// A schema in one line: string, number, [Match], one of ...
function type(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.oneOf || schema.anyOf) return [...new Set((schema.oneOf ?? schema.anyOf).map(type))].join(" or ");
  if (schema.allOf) return schema.allOf.map(type).join(" and ");
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(" or ");
  const kinds = [schema.type ?? "any"].flat().map(kind => {
    if (kind === "array") return `[${type(schema.items)}]`;
    if (kind === "object" && schema.additionalProperties) return `{name: ${type(schema.additionalProperties)}}`;
    if (kind === "object" && schema.properties) return `{${Object.keys(schema.properties).join(", ")}}`;
    return kind;
  });
  return kinds.join(" or ");
}

function range(schema) {
  const parts = [];
  if (schema.minimum !== undefined) parts.push(`from ${schema.minimum}`);
  if (schema.maximum !== undefined) parts.push(`to ${schema.maximum}`);
  if (schema.default !== undefined) parts.push(`default ${JSON.stringify(schema.default)}`);
  return parts.join(", ");
}

// The properties of an object, and what they refer to, each once.
function tables(schema, seen = new Set()) {
  if (!schema) return [];
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    if (seen.has(name)) return [];
    seen.add(name);
    return tables({...named(schema.$ref), title: name}, seen);
  }
  const parts = [...(schema.oneOf ?? []), ...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const properties = Object.entries(schema.properties ?? {});
  const own = properties.length === 0 ? [] : [h("div", {class: "table"}, h("table", {},
    h("caption", {class: "sr"}, schema.title ?? "Object"),
    h("thead", {}, h("tr", {}, h("th", {}, schema.title ?? "Object"), h("th", {}, "Type"), h("th", {}, "What it is"))),
    h("tbody", {}, properties.map(([name, one]) => h("tr", {}, h("td", {}, h("code", {}, name), (schema.required ?? []).includes(name) ? "" : h("span", {class: "small muted"}, " optional")),
      h("td", {class: "mono small"}, type(one)), h("td", {}, paragraphs(one.description ?? (one.$ref ? named(one.$ref).description : "")), range(one) && h("span", {class: "small muted"}, range(one))))))))];
  const inner = [...properties.map(([, one]) => one), schema.items, schema.additionalProperties, ...parts].filter(one => one && typeof one === "object");
  return [...own, ...inner.flatMap(one => tables(one, seen))];
}

function example(content) {
  const schema = content?.schema?.$ref ? named(content.schema.$ref) : content?.schema;
  const found = content?.example ?? schema?.example ?? (schema?.items?.$ref && named(schema.items.$ref).example && [named(schema.items.$ref).example]);
  return found && JSON.stringify(found);
}

function operation(path, method, one) {
  const body = one.requestBody?.content["application/json"], sample = example(body);
  const call = ["curl", method === "get" ? "" : `-X ${method.toUpperCase()}`, `localhost:7700${path.replace(/\{(\w+)\}/g, (_, name) => name.toUpperCase())}`, sample && `-H 'content-type: application/json' -d '${sample}'`].filter(Boolean).join(" ");
  return h("article", {class: "card op", id: one.operationId},
    h("h3", {class: "row"}, h("span", {class: `method ${method}`}, method.toUpperCase()), h("span", {class: "path"}, path)),
    h("p", {}, h("b", {}, one.summary ?? "")), paragraphs(one.description),
    one.parameters?.some(parameter => parameter.in === "query") && h("div", {class: "table"}, h("table", {}, h("caption", {class: "sr"}, "Parameters"), h("thead", {}, h("tr", {}, h("th", {}, "Parameter"), h("th", {}, "Type"), h("th", {}, "What it is"))),
      h("tbody", {}, one.parameters.filter(parameter => parameter.in === "query").map(parameter => h("tr", {}, h("td", {}, h("code", {}, parameter.name)), h("td", {class: "mono small"}, type(parameter.schema)), h("td", {}, paragraphs(parameter.description), h("span", {class: "small muted"}, range(parameter.schema)))))))),
    h("pre", {tabindex: 0}, h("code", {}, call)),
    body && h("details", {}, h("summary", {}, "Request"), tables(body.schema)),
    Object.entries(one.responses).filter(([status]) => status.startsWith("2")).map(([status, response]) => {
      const [content] = Object.values(response.content ?? {});
      // Of lines of JSON the description names the schema of one.
      const [, line] = response.description.match(/each a `(\w+)`/) ?? [];
      const schema = line ? {$ref: `#/components/schemas/${line}`} : content?.schema;
      return h("details", {}, h("summary", {}, `${status} ${response.description.replaceAll("`", "")}`), schema ? tables(schema) : h("p", {class: "muted"}, "No body."));
    }));
}

const operations = Object.entries(spec.paths).flatMap(([path, methods]) => Object.entries(methods).filter(([method]) => ["get", "put", "post", "delete"].includes(method)).map(([method, one]) => ({path, method, one})));
show(main, h("h1", {}, "API reference"), paragraphs(spec.info.description),
  spec.tags.map(tag => h("section", {}, h("h2", {}, `${tag.name[0].toUpperCase()}${tag.name.slice(1)}`), h("p", {class: "muted"}, tag.description),
    operations.filter(({one}) => one.tags?.includes(tag.name)).map(({path, method, one}) => operation(path, method, one)))));
