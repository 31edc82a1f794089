import { rowsOf, type ScriptRow } from './script-rows.ts'

const runsSection = 'runs a section with its params, and goes on with what that returns'
const transfers = 'goes on with a section, and does not come back'
const first = 'runs the steps of the first condition that holds: %i'
const ofValue = 'runs the steps for the value of a variable, as a text'
const asks = 'asks with headers, a body and time-outs'

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
  'ai',
  'ai_sidecar',
  'amazon_bedrock',
]

/** Methods that say what comes next, variables and requests. */
export const flowRows: readonly ScriptRow[] = [
  ...rowsOf('execute', 'flow.test.ts', [runsSection], {
    dest: ['needed', 'runs the script at a URL, which is told of the call, the variables and its params'],
    params: ['none', runsSection],
    meta: ['', 'runs on_return, then the branch of result', 'of no meaning, as the language says'],
    on_return: ['none', 'runs on_return, then the branch of result'],
    result: ['none', 'runs on_return, then the branch of result'],
  }),
  ...rowsOf('transfer', 'flow.test.ts', [transfers], {
    dest: ['needed', 'goes on with the script at a URL or inside of the script, whose sections then count'],
    params: ['none', transfers],
    meta: ['', transfers, 'of no meaning, as the language says'],
  }),
  ...rowsOf('return', 'flow.test.ts', ['ends the script where nothing executed it, with any value']),
  ...rowsOf('label', 'flow.test.ts', ['goes to a label of its list, at most so often']),
  ...rowsOf('goto', 'flow.test.ts', ['goes to a label of its list, at most so often'], {
    label: ['needed', 'goes to a label around the list that it stands in'],
    when: ['always', 'goes where its condition holds'],
    max: ['100', 'goes to a label of its list, at most so often'],
  }),
  ...rowsOf('cond', 'flow.test.ts', [first], {
    when: ['needed, but for the last', 'looks a plain path up, and an unset one does not hold'],
    // biome-ignore lint/suspicious/noThenProperty: it is the language's name
    then: ['needed with when', first],
    else: ['none', 'runs the else of a condition that does not hold, and tries no other'],
  }),
  ...rowsOf('switch', 'flow.test.ts', [ofValue], {
    variable: ['needed', ofValue],
    case: ['needed', ofValue],
    default: ['none', 'warns where there is no case and no default'],
  }),
  ...rowsOf('set', 'requesting.test.ts', ['sets one after the other, so that later ones see earlier ones']),
  ...rowsOf('unset', 'requesting.test.ts', ['takes one or several away']),
  ...rowsOf('request', 'requesting.test.ts', [asks], {
    url: ['needed', asks],
    method: ['needed', asks],
    headers: ['none', asks],
    body: ['none', asks],
    timeout: ['0', asks, '0 is what the configuration says'],
    connect_timeout: ['0', asks, '0 is what the configuration says'],
    save_variables: ['false', 'keeps the fields of a JSON answer where it is asked to'],
  }),
  ...rowsOf(
    'check_hours',
    'hours.test.ts',
    ['knows the hours of the week: %s is %s', 'done; a method of our own'],
    {
      open: ['needed', 'knows the hours of the week: %s is %s'],
      time_zone: ['UTC', 'goes by the clock of the time zone: %s in %s is %s'],
      closed_dates: ['none', 'knows closed days, and the night after one'],
    },
  ),
  ...absentMethods.flatMap((name) =>
    rowsOf(name, 'unsupported.test.ts', [
      '%s fails when it is run, and the script goes on',
      'not there: fails when it is run',
    ]),
  ),
]
