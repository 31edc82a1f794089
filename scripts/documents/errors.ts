import { catalogue } from '../../gateway/core/errors/catalogue.ts'

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

/** The page of error codes, from the catalogue. */
export const errorsPage = (): string =>
  [
    '# Codes: why something was refused, or ended',
    '',
    'Every refusal and every end of a call has one of these codes. It is in the log line (`code`, with the facts that were checked), in the',
    'metrics (`trunkline_rejections_total{code=…}`, `trunkline_calls_ended_total{cause=…}`) and in API replies. *SIP* is the status of a call that',
    'was not answered yet; *Q.850* is in the Reason header of a BYE, and with the name beside it what a browser is told.',
    '',
    '<!-- Written by scripts/document; do not edit. -->',
    '',
    row(['Code', 'Meaning', 'SIP', 'HTTP', 'Q.850', 'Name for browsers', 'Log level']),
    row(['---', '---', '---', '---', '---', '---', '---']),
    ...Object.entries(catalogue).map(([code, { text, sip, http, q850, cause, level }]) =>
      row([`\`${code}\``, text, sip, http, q850, `\`${cause}\``, level]),
    ),
    '',
  ].join('\n')
