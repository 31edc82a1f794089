import { faultKinds } from '../../config/fault-kinds.ts'
import type { BadFile } from '../../config/testing/bad-file.ts'
import { badFiles } from '../../config/testing/bad-files.ts'

/** Maximum number of examples for one code. */
const maxExamples = 3

/** The page of configuration errors, from the kinds of faults and the table of wrong files. */
export const configurationErrorsPage = (): string =>
  [
    '# Configuration errors',
    '',
    '`scripts/trunkline check trunkline.yaml` reads the file as `run` does, with its documents and the other',
    'files that it names. It reports every fault with its place, the faulty text and, if possible, a',
    'correction. Values of secrets are masked. A faulty value that several entries share by a YAML alias is',
    'reported once.',
    '',
    '```text',
    'error[unknown-key]: domains[0].maxcalls: is not a known key',
    ' --> trunkline.yaml:4:5',
    '  |',
    '4 |     maxcalls: •',
    '  |     ^^^^^^^^',
    '  = hint: did you mean `maxCalls`?',
    '```',
    '',
    'The exit code is 0 if the file is valid, and 2 if it has an error. Warnings do not change it.',
    '',
    '## For programs',
    '',
    '`check --json` prints one object to standard output. Keys may be added in later releases; none is',
    'removed or renamed.',
    '',
    '| Key | Meaning |',
    '| --- | --- |',
    '| `file` | absolute path of the configuration |',
    '| `valid` | whether a gateway can run with the file |',
    '| `errors`, `warnings` | numbers of faults |',
    '| `faults[].severity` | `error` or `warning` |',
    '| `faults[].code` | kind of the fault: a heading below, or a code of a document’s language |',
    '| `faults[].file` | absolute path of the faulty file: the configuration, or a document |',
    '| `faults[].line`, `.column`, `.length` | place of the faulty text, from 1, in characters |',
    '| `faults[].key` | path of the key, such as `domains[0].allow[1]`; empty for the whole file |',
    '| `faults[].message` | end of a sentence that begins with the key |',
    '| `faults[].value` | value as it is written; null for secrets, variables and groups |',
    '| `faults[].hint` | correction, or null |',
    '| `faults[].first` | `line` and `column` of the first of two duplicates, or null |',
    '| `faults[].docs` | heading of this page |',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    ...Object.entries(faultKinds).flatMap(([code, { meaning, remedy }]) => [
      `## ${code}`,
      '',
      `${meaning} ${remedy}`,
      '',
      ...examplesOf(code).flatMap(example),
    ]),
  ].join('\n')

const examplesOf = (code: string): readonly BadFile[] =>
  badFiles
    .filter(({ faults }) => faults.every((line) => line.endsWith(`[${code}]`)))
    .filter(({ text, isExample = typeof text === 'string' }) => isExample)
    .slice(0, maxExamples)

const example = ({ mistake, text, faults }: BadFile): readonly string[] => [
  `Example: ${mistake}.`,
  '',
  // A faulty file in a fence of YAML would be taken for a correct one by readers of the page, and by tests.
  '```text',
  String(text).trimEnd(),
  '```',
  '',
  '```text',
  ...faults,
  '```',
  '',
]
