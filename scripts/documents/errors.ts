import { catalogue } from '../../gateway/core/errors/catalogue.ts'

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`

/** The page of error codes, from the catalogue. */
export const errorsPage = (): string =>
  [
    '# Codes of rejections and ends',
    '',
    'Every rejection and every end of a call has one of these codes. The code is in',
    '',
    '- the log line (`code`, with the facts that were checked),',
    '- the metrics `trunkline_rejections_total{code=…}` and `trunkline_calls_ended_total{cause=…}`,',
    '- responses of the API.',
    '',
    '*SIP* is the status for a call that was not answered. *Q.850* is the cause in the Reason header of a',
    'BYE; browsers receive it with the name beside it.',
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
