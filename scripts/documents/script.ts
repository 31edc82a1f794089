import { methods } from '../../handlers/script/methods/index.ts'
import { scriptConformance } from '../../test/conformance/script.ts'
import { absentMethods } from '../../test/conformance/script-flow.ts'
import type { ScriptRow } from '../../test/conformance/script-rows.ts'
import { text } from './script-text.ts'

const cell = (of: string): string => of.replaceAll('|', '\\|').replaceAll('<', '&lt;')

/** What parameters mean that stand in no schema of their own: those of `cond` and `switch`. */
const inside: Readonly<Record<string, string>> = {
  'cond.when': 'JavaScript, or a path that is looked up.',
  'cond.then': 'Steps that run where it holds.',
  'cond.else': 'Steps that run where it does not; alone, as the last of the list: where none holds.',
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
  return `| ${[...names, cell(meaningOf(row)), cell(row.fallback), cell(row.state)].join(' | ')} |`
}

/** What no row of the table is about: what is not there, and what happens to a script that has it. */
const absentElsewhere: readonly (readonly [what: string, happens: string])[] = [
  [
    'the functions `@{fmt_ph …}` and `@{sleep …}`',
    'they stay in the text as they are written, with a warning',
  ],
  ['the destination `relay:`', 'the `execute` or `transfer` fails, and the next step has its turn'],
  ['`mp4` recordings', 'the script is refused'],
  ['a stream among several destinations', 'the `connect` fails'],
  [
    'the variables `tap_rtp_src_addr`, `tap_rtp_src_port`, `call.tag`, `call.dial_winner` and `call.sip_data.sip_contact_…`',
    'they are empty',
  ],
  ['video in rooms', 'everybody there takes part by audio, browsers too'],
  ['scripts for messages (`receive`, `reply`)', 'they are refused: no such method'],
]

/** The page of the script language, from its conformance table. */
export const scriptPage = (): string =>
  [
    '# Script documents',
    '',
    ...text,
    '## Methods',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    'Every row has a test, named in `test/conformance/`. Times are seconds, where nothing else is said.',
    '',
    '| Method | Parameter | | Default | State |',
    '| --- | --- | --- | --- | --- |',
    ...scriptConformance.filter(({ method }) => !absentMethods.includes(method)).map(rowOf),
    '',
    '## What is not there',
    '',
    `These methods may stand in a script; each fails when it is run (\`relay_script_method_execute_failed\`), and the next step has its turn: ${absentMethods
      .map((name) => `\`${name}\``)
      .join(', ')}.`,
    '',
    '`trunkline check`, and the log of each call, warn of them (`relay_script_method_unsupported`, `relay_script_agent_unsupported`). With `ai`, `ai_sidecar` or `amazon_bedrock` the call would be silent: the API refuses a document that has one with `document_invalid` (422), in place or to be kept.',
    '',
    'Nor are these there:',
    '',
    '| | What happens |',
    '| --- | --- |',
    ...absentElsewhere.map(([what, happens]) => `| ${what} | ${happens} |`),
    '',
  ].join('\n')
