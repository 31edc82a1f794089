import type { Json } from './document-types.ts'
import { booleanOf, isObject, textOf, textsOf } from './values.ts'

/** Section of a prompt as an object model. */
interface PromptSection {
  readonly title?: string
  readonly body?: string
  readonly bullets: readonly string[]
  readonly subsections: readonly PromptSection[]
  /** Undefined: as its siblings. */
  readonly numbered?: boolean
  readonly hasNumberedBullets: boolean
}

/** Maximum depth of sections; deeper ones are left out. */
const maxDepth = 12

const readSection = (value: unknown, depth: number): readonly PromptSection[] => {
  if (typeof value === 'string')
    return [{ body: value, bullets: [], subsections: [], hasNumberedBullets: false }]
  if (!isObject(value) || depth > maxDepth) return []
  const { title, body, bullets, subsections, numbered, numberedBullets } = value as Json
  const isNumbered = booleanOf(numbered)
  return [
    {
      ...(textOf(title) && { title: textOf(title) }),
      ...(textOf(body) && { body: textOf(body) }),
      bullets: textsOf(bullets),
      subsections: readSections(subsections, depth + 1),
      ...(isNumbered !== undefined && { numbered: isNumbered }),
      hasNumberedBullets: booleanOf(numberedBullets) ?? false,
    },
  ]
}

const readSections = (value: unknown, depth: number): readonly PromptSection[] =>
  (Array.isArray(value) ? value : []).flatMap((item) => readSection(item, depth))

/** Number of a section, with those of the sections around it: `2.1` is [2, 1]. */
type Place = readonly number[]

/** Returns the places of siblings: if one is numbered, all are, except those that say false. */
const placesOf = (siblings: readonly PromptSection[], around: Place): readonly Place[] => {
  const some = siblings.some(({ numbered }) => numbered === true)
  let count = 0
  return siblings.map(({ title, numbered }) => {
    if (title !== undefined) count += 1
    return some && numbered !== false && title !== undefined ? [...around, count] : around
  })
}

const headingOf = (title: string, place: Place, around: Place): string =>
  place.length > around.length ? `${place.join('.')}. ${title}` : title

const markdown = (section: PromptSection, level: number, place: Place, around: Place): readonly string[] => {
  const { title, body, bullets, subsections, hasNumberedBullets } = section
  const places = placesOf(subsections, place)
  const below = title === undefined ? level : level + 1
  return [
    ...(title === undefined ? [] : [`${'#'.repeat(Math.min(level, 6))} ${headingOf(title, place, around)}`]),
    ...(body === undefined ? [] : [body]),
    ...(bullets.length === 0
      ? []
      : [bullets.map((text, at) => `${hasNumberedBullets ? `${at + 1}.` : '-'} ${text}`).join('\n')]),
    ...subsections.flatMap((each, at) => markdown(each, below, places[at] ?? place, place)),
  ]
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const escaped = (text: string): string => text.replace(/[&<>]/g, (character) => entities[character] ?? '')

const xml = (section: PromptSection, place: Place, around: Place, indent: string): readonly string[] => {
  const { title, body, bullets, subsections, hasNumberedBullets } = section
  const places = placesOf(subsections, place)
  const inner = `${indent}  `
  const bullet = (text: string, at: number): string =>
    `${inner}  <bullet${hasNumberedBullets ? ` id="${at + 1}"` : ''}>${escaped(text)}</bullet>`
  const within = (name: string, lines: readonly string[]): readonly string[] =>
    lines.length === 0 ? [] : [`${inner}<${name}>`, ...lines, `${inner}</${name}>`]
  return [
    `${indent}<section>`,
    ...(title === undefined ? [] : [`${inner}<title>${escaped(headingOf(title, place, around))}</title>`]),
    ...(body === undefined ? [] : [`${inner}<body>${escaped(body)}</body>`]),
    ...within('bullets', bullets.map(bullet)),
    ...within(
      'subsections',
      subsections.flatMap((each, at) => xml(each, places[at] ?? place, place, `${inner}  `)),
    ),
    `${indent}</section>`,
  ]
}

/**
 * Renders a prompt that is an object model: a list of sections with title, body, bullets and subsections.
 * Markdown has a heading of level 2 for each section of the top, and one level more for each nesting.
 * Returns an empty text for any other value.
 */
export const renderPom = (value: unknown, format: 'markdown' | 'xml' = 'markdown'): string => {
  const sections = readSections(value, 1)
  if (sections.length === 0) return ''
  const places = placesOf(sections, [])
  if (format === 'markdown')
    return sections.flatMap((section, at) => markdown(section, 2, places[at] ?? [], [])).join('\n\n')
  return [
    '<prompt>',
    ...sections.flatMap((section, at) => xml(section, places[at] ?? [], [], '  ')),
    '</prompt>',
  ].join('\n')
}
