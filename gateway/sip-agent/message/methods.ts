/** Every method that the agent knows. Others are refused with 501. */
export const knownMethods: ReadonlySet<string> = new Set([
  'INVITE',
  'ACK',
  'CANCEL',
  'BYE',
  'OPTIONS',
  'REGISTER',
  'INFO',
  'PRACK',
  'UPDATE',
  'MESSAGE',
  'SUBSCRIBE',
  'NOTIFY',
  'REFER',
  'PUBLISH',
])

const reasons: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  183: 'Session Progress',
  200: 'OK',
  202: 'Accepted',
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Request Entity Too Large',
  416: 'Unsupported URI Scheme',
  420: 'Bad Extension',
  440: 'Max-Breadth Exceeded',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  483: 'Too Many Hops',
  487: 'Request Terminated',
  491: 'Request Pending',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  505: 'Version Not Supported',
}

/** The usual reason phrase of a status that the agent itself sends. */
export const reasonPhrase = (status: number): string => reasons[status] ?? 'Unknown'
