import { rowsOf, type ScriptRow } from './script-rows.ts'

const runsSection = 'runs a section with its params, and continues with the returned value'
const transfers = 'continues with a section, and does not return'
const first = 'runs the steps of the first condition that holds: %i'
const ofValue = 'runs the steps for the value of a variable as text'
const asks = 'sends headers and a body, with time-outs'

/** Methods without a verb; each fails when it is run. */
export const absentMethods: readonly string[] = [
  'denoise',
  'stop_denoise',
  'live_transcribe',
  'live_translate',
  'transcribe',
  'transcribe_stop',
  'send_fax',
  'receive_fax',
  'send_sms',
  'pay',
  'ai_sidecar',
]

/** Methods for control flow, variables and requests. */
export const flowRows: readonly ScriptRow[] = [
  ...rowsOf('execute', 'flow.test.ts', [runsSection], {
    dest: ['needed', 'runs the script at a URL, requested with the call, the variables and its params'],
    params: ['none', runsSection],
    meta: ['', 'runs on_return, then the branch of result', 'accepted; has no effect'],
    on_return: ['none', 'runs on_return, then the branch of result'],
    result: ['none', 'runs on_return, then the branch of result'],
  }),
  ...rowsOf('transfer', 'flow.test.ts', [transfers], {
    dest: ['needed', 'continues with the script at a URL or in the document, whose sections then apply'],
    params: ['none', transfers],
    meta: ['', transfers, 'accepted; has no effect'],
  }),
  ...rowsOf('return', 'flow.test.ts', ['ends the script outside of execute, with any value']),
  ...rowsOf('label', 'flow.test.ts', ['jumps to a label of its list, at most max times']),
  ...rowsOf('goto', 'flow.test.ts', ['jumps to a label of its list, at most max times'], {
    label: ['needed', 'jumps to a label of an enclosing list'],
    when: ['always', 'jumps if its condition holds'],
    max: ['100', 'jumps to a label of its list, at most max times'],
  }),
  ...rowsOf('cond', 'flow.test.ts', [first], {
    when: ['needed, except in the last entry', 'reads a plain path, and treats an unset one as false'],
    // biome-ignore lint/suspicious/noThenProperty: it is the language's name
    then: ['needed with when', first],
    else: ['none', 'runs the else of a false condition, and evaluates no other'],
  }),
  ...rowsOf('switch', 'flow.test.ts', [ofValue], {
    variable: ['needed', ofValue],
    case: ['needed', ofValue],
    default: ['none', 'warns if no case matches and no default exists'],
  }),
  ...rowsOf('set', 'requesting.test.ts', ['sets variables in order, so that later ones see earlier ones']),
  ...rowsOf('unset', 'requesting.test.ts', ['removes one or several variables']),
  ...rowsOf('request', 'requesting.test.ts', [asks], {
    url: ['needed', asks],
    method: ['needed', asks],
    headers: ['none', asks],
    body: ['none', asks],
    timeout: ['0', asks, 'done; 0 selects the [default](webhooks.md#time-outs-and-retries)'],
    connect_timeout: ['0', asks, 'done; 0 selects the [default](webhooks.md#time-outs-and-retries)'],
    save_variables: ['false', 'keeps the fields of a JSON answer if save_variables is set'],
  }),
  ...rowsOf(
    'check_hours',
    'hours.test.ts',
    ['applies the hours of the week: %s is %s', 'done; only in Trunkline'],
    {
      open: ['needed', 'applies the hours of the week: %s is %s'],
      time_zone: ['UTC', 'uses the local time of the time zone: %s in %s is %s'],
      closed_dates: ['none', 'applies closed dates, and closes the night that follows'],
    },
  ),
  ...rowsOf('ai', 'agents.test.ts', ['hands the call to an agent, and the next step follows']),
  ...rowsOf('amazon_bedrock', 'agents.test.ts', [
    'hands the call to an agent with its voice, and asks in its own form',
  ]),
  ...absentMethods.flatMap((name) =>
    rowsOf(name, 'unsupported.test.ts', [
      '%s fails at run time, and the script continues',
      'not supported: fails when it runs',
    ]),
  ),
]
