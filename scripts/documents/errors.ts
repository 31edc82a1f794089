import { type Code, catalogue } from '../../gateway/core/errors/catalogue.ts'
import { errorActions } from './error-actions.ts'

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

const introduction = `# Error codes

Every rejection and every end of a call has one of these codes. The code is in

- the log line (\`code\`, with the facts that were checked),
- the metrics \`trunkline_rejections_total{code=…}\` and \`trunkline_calls_ended_total{cause=…}\`,
- responses of the API, with a link to the section below.

A call that was not answered gets the *SIP* status. A response of the API has the *HTTP* status. The codes
\`unknown_address\` and \`no_carrier\` have the status 422 for the destination of a call, and 400 in the
compatibility API. A BYE has the *Q.850* cause in its Reason header, and browsers receive the cause with
its name.

<!-- Written by scripts/document; do not edit. -->
`

/** Returns the section of a code. Its heading is the anchor to which error responses link. */
const sectionOf = (code: Code): readonly string[] => {
  const { text, sip, http, q850, cause, level } = catalogue[code]
  return [
    `### \`${code}\``,
    '',
    text,
    '',
    `- **Action:** ${errorActions[code]}`,
    `- SIP ${sip}, HTTP ${http}, Q.850 ${q850} \`${cause}\`, log level ${level}`,
    '',
  ]
}

/** The page of error codes, from the catalogue. */
export const errorsPage = (): string => {
  const codes = Object.keys(catalogue) as Code[]
  return [
    introduction,
    '## List',
    '',
    row(['Code', 'Meaning', 'SIP', 'HTTP']),
    row(['---', '---', '---', '---']),
    ...codes.map((code) => {
      const { text, sip, http } = catalogue[code]
      return row([`[\`${code}\`](#${code})`, text, sip, http])
    }),
    '',
    '## Codes',
    '',
    ...codes.flatMap(sectionOf),
  ]
    .join('\n')
    .replace(/\n+$/, '\n')
}
