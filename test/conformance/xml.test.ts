import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readXmlDocument } from '../../handlers/xml/document.ts'
import type { ElementKind } from '../../handlers/xml/verb.ts'
import { verbs } from '../../handlers/xml/verbs/index.ts'
import { xmlAbsent, xmlConformance } from './xml.ts'
import type { Row } from './xml-rows.ts'

/** Every element and attribute that the reader accepts. Verbs within `Gather` appear once. */
const taken = (kinds: readonly ElementKind[], above = ''): string[] =>
  kinds.flatMap((kind) => {
    const path = above + kind.name
    const inside = Array.isArray(kind.children) ? kind.children.filter((one) => !verbs.includes(one)) : []
    return [path, ...kind.attributes.map((name) => `${path}@${name}`), ...taken(inside, `${path}/`)]
  })

const nameOf = ({ element, attribute }: Row): string => (attribute ? `${element}@${attribute}` : element)

it('the table of XML documents has exactly the elements and attributes that the reader accepts', () => {
  expect(xmlConformance.map(nameOf).toSorted()).toEqual(taken(verbs).toSorted())
})

it.each([...xmlConformance, ...xmlAbsent].map((row) => [nameOf(row), row] as const))(
  'the test that the table names for %s exists',
  (_name, { element, attribute, test: [file, title] }) => {
    const source = readFileSync(new URL(`../../handlers/xml/${file}`, import.meta.url), 'utf8')
    expect(source).toContain(`'${title}'`)
    const word = attribute ?? element.split('/').at(-1)!
    if (xmlConformance.some((row) => row.element === element && row.attribute === attribute))
      expect(source).toMatch(new RegExp(`\\b${word}\\b`))
  },
)

/** Returns a document with only this element and attribute, and the URL that a `Stream` requires. */
const documentOf = ({ element, attribute }: Row): string => {
  const names = element.split('/')
  const last = names.length - 1
  const opened = names.map((name, at) =>
    at === last && attribute ? `<${name} url="wss://a.example" ${attribute}="x">` : `<${name}>`,
  )
  return `<Response>${opened.join('')}${names
    .toReversed()
    .map((name) => `</${name}>`)
    .join('')}</Response>`
}

it.each(xmlAbsent.map((row) => [nameOf(row), row] as const))(
  'the reader warns about %s, which has no effect',
  (_name, row) => {
    const path = `/Response/${row.element
      .split('/')
      .map((name) => `${name}[1]`)
      .join('/')}`
    const { warnings } = readXmlDocument({ text: documentOf(row), url: 'https://app.example' })
    const wanted = row.attribute ? `${path}/@${row.attribute}` : path
    expect(warnings).toContainEqual(expect.objectContaining({ code: '12200', path: wanted, line: 1 }))
  },
)
