import { readFileSync } from 'node:fs'
import { methods } from '../../handlers/script/methods/index.ts'
import { scriptConformance } from '../../test/conformance/script.ts'
import { absentMethods } from '../../test/conformance/script-flow.ts'
import type { ScriptRow } from '../../test/conformance/script-rows.ts'
import { tableCell } from './table-cell.ts'

const introduction = readFileSync(new URL('./script-introduction.md', import.meta.url), 'utf8')

/** Descriptions of parameters without a schema: those of `cond` and `switch`. */
const inside: Readonly<Record<string, string>> = {
  'cond.when': 'JavaScript, or a path.',
  'cond.then': 'Steps that run if the condition is true.',
  'cond.else': 'Steps that run if it is false; alone, as the last of the list: if no condition is true.',
  'switch.variable': 'Name of a variable, such as prompt_value or call.type.',
  'switch.case': 'Steps by value.',
  'switch.default': 'Steps for any other value.',
}

const meaningOf = ({ method, parameter }: ScriptRow): string => {
  const spec = methods.get(method)
  if (!parameter) return spec?.description ?? ''
  return inside[`${method}.${parameter}`] ?? String(spec?.properties[parameter]?.description ?? '')
}

const rowOf = (row: ScriptRow): string => {
  const names = row.parameter ? ['', `\`${row.parameter}\``] : [`\`${row.method}\``, '']
  const texts = [meaningOf(row), row.fallback, row.state].map(tableCell)
  return `| ${[...names, ...texts].join(' | ')} |`
}

/** Features without a row in the table that are not supported, and the effect of using them. */
const absentElsewhere: readonly (readonly [what: string, happens: string])[] = [
  ['the functions `@{fmt_ph …}` and `@{sleep …}`', 'they stay in the text unchanged, with a warning'],
  ['the destination `relay:`', 'the `execute` or `transfer` fails, and the next step runs'],
  ['`mp4` recordings', 'the script is rejected'],
  ['a stream among several destinations', 'the `connect` fails'],
  [
    'the variables `tap_rtp_src_addr`, `tap_rtp_src_port`, `call.tag`, `call.dial_winner` and ' +
      '`call.sip_data.sip_contact_…`',
    'they are empty',
  ],
  ['scripts for messages (`receive`, `reply`)', 'they are rejected: unknown method'],
]

/** The page of the script language, from its conformance table. */
export const scriptPage = (): string =>
  [
    '# Script documents',
    '',
    introduction,
    '## Methods',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    'Every row has a test, named in `test/conformance/`. Times are in seconds unless stated otherwise.',
    '',
    '| Method | Parameter | Meaning | Default | State |',
    '| --- | --- | --- | --- | --- |',
    ...scriptConformance.filter(({ method }) => !absentMethods.includes(method)).map(rowOf),
    '',
    '## Not supported',
    '',
    'These methods are accepted in a script, but fail when they run, with the code',
    '`relay_script_method_execute_failed`. The next step then runs:',
    `${absentMethods.map((name) => `\`${name}\``).join(', ')}.`,
    '',
    '`trunkline check`, and the log of each call, warn of them (`relay_script_method_unsupported`).',
    '',
    'These are not supported either:',
    '',
    '| Not supported | Effect |',
    '| --- | --- |',
    ...absentElsewhere.map(([what, happens]) => `| ${what} | ${happens} |`),
    '',
  ].join('\n')
