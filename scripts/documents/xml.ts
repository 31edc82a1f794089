import { readFileSync } from 'node:fs'
import { xmlAbsent, xmlConformance } from '../../test/conformance/xml.ts'
import type { Row } from '../../test/conformance/xml-rows.ts'
import { tableCell } from './table-cell.ts'

const introduction = readFileSync(new URL('./xml-introduction.md', import.meta.url), 'utf8')

const indented = (element: string): string =>
  '– '.repeat(element.split('/').length - 1) + element.split('/').at(-1)

const rowOf = ({ element, attribute, means, fallback, state }: Row): string => {
  const names = attribute ? ['', `\`${attribute}\``] : [`\`${indented(element)}\``, '']
  return `| ${[...names, tableCell(means), tableCell(fallback), tableCell(state)].join(' | ')} |`
}

const absentOf = ({ element, attribute, means }: Row): string => {
  const name = attribute ? `${attribute}="…"` : ''
  return `| \`${element.replaceAll('/', ' › ')}\` | ${name && `\`${name}\``} | ${tableCell(means)} |`
}

/** Returns the rows with nouns below their verb. */
const inOrder = (rows: readonly Row[]): readonly Row[] => {
  const verbs = [...new Set(rows.map(({ element }) => element.split('/')[0]))]
  return verbs.flatMap((verb) => rows.filter(({ element }) => element.split('/')[0] === verb))
}

/** The page of the XML language, from its conformance table. */
export const xmlPage = (): string =>
  [
    '# XML documents',
    '',
    introduction,
    '## Verbs and nouns',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    'Every row has a test, named in `test/conformance/`.',
    '',
    '| Element | Attribute | Meaning | Default | State |',
    '| --- | --- | --- | --- | --- |',
    ...inOrder(xmlConformance).map(rowOf),
    '',
    '## Not supported',
    '',
    'Documents may contain these. They have no effect, and the call’s log has a warning with the code 12200,',
    'line and column.',
    '',
    '| Element | Attribute | Meaning |',
    '| --- | --- | --- |',
    ...xmlAbsent.map(absentOf),
    '',
    'Audio in GSM 06.10, raw or in a WAV, is not supported: it causes a warning, and the next verb runs.',
    'An `rtmp:` URL is an error (11100). Documents for messages and faxes (`Message`, `Receive`) are not',
    'supported: their verbs are ignored.',
    '',
  ].join('\n')
