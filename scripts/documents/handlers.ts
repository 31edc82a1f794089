import { readFileSync } from 'node:fs'
import { methods } from '../../handlers/script/schema.ts'

const begin = '<!-- Script methods: written by scripts/document; do not edit. -->'
const end = '<!-- End of the script methods. -->'

/** What a parameter's schema says for people. */
const describe = (schema: Readonly<Record<string, unknown>>): string =>
  String(schema.description ?? '')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')

const methodRows = ([
  name,
  { description, properties, required = [], exactlyOne = [] },
]: (typeof entries)[number]): string[] => {
  const mark = (parameter: string): string =>
    required.includes(parameter) ? ', needed' : exactlyOne.includes(parameter) ? ', one of these' : ''
  return [
    `| \`${name}\` | | ${description} |`,
    ...Object.entries(properties).map(
      ([parameter, schema]) => `| | \`${parameter}\`${mark(parameter)} | ${describe(schema)} |`,
    ),
  ]
}

const entries = Object.entries(methods)

/** The page of handlers: the part between the marks comes from the script language's table of methods, the rest is written by hand. */
export const handlersPage = (): string => {
  const page = readFileSync(new URL('../../docs/handlers.md', import.meta.url), 'utf8')
  const [before, rest] = [page.indexOf(begin), page.indexOf(end)]
  if (before < 0 || rest < before) throw new Error('docs/handlers.md has lost its marks')
  const table = ['| Method | Parameter | |', '| --- | --- | --- |', ...entries.flatMap(methodRows)]
  return `${page.slice(0, before)}${begin}\n\n${table.join('\n')}\n\n${page.slice(rest)}`
}
