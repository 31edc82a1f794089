/** Methods that the agent knows. Others are rejected with 501. */
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

/**
 * Methods that create a dialog and therefore must carry a Contact (RFC 3261 8.1.1.8, RFC 6665 4.1.2.1, RFC
 * 3515 2.2).
 */
export const dialogCreatingMethods: ReadonlySet<string> = new Set(['INVITE', 'SUBSCRIBE', 'REFER'])

/**
 * Methods that refresh the remote target and therefore must carry a Contact (RFC 3261 12.2, RFC 3311, RFC
 * 6665, RFC 3515).
 */
export const targetRefreshMethods: ReadonlySet<string> = new Set([
  'INVITE',
  'UPDATE',
  'SUBSCRIBE',
  'REFER',
  'NOTIFY',
])

const reasons: Readonly<Record<number, string>> = {
  100: 'Trying',
  180: 'Ringing',
  181: 'Call Is Being Forwarded',
  182: 'Queued',
  183: 'Session Progress',
  199: 'Early Dialog Terminated',
  200: 'OK',
  202: 'Accepted',
  204: 'No Notification',
  300: 'Multiple Choices',
  301: 'Moved Permanently',
  302: 'Moved Temporarily',
  305: 'Use Proxy',
  380: 'Alternative Service',
  400: 'Bad Request',
  401: 'Unauthorized',
  402: 'Payment Required',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  407: 'Proxy Authentication Required',
  408: 'Request Timeout',
  410: 'Gone',
  412: 'Conditional Request Failed',
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Long',
  415: 'Unsupported Media Type',
  416: 'Unsupported URI Scheme',
  417: 'Unknown Resource-Priority',
  420: 'Bad Extension',
  421: 'Extension Required',
  422: 'Session Interval Too Small',
  423: 'Interval Too Brief',
  424: 'Bad Location Information',
  428: 'Use Identity Header',
  429: 'Provide Referrer Identity',
  430: 'Flow Failed',
  433: 'Anonymity Disallowed',
  436: 'Bad Identity Info',
  437: 'Unsupported Credential',
  438: 'Invalid Identity Header',
  439: 'First Hop Lacks Outbound Support',
  440: 'Max-Breadth Exceeded',
  469: 'Bad Info Package',
  470: 'Consent Needed',
  480: 'Temporarily Unavailable',
  481: 'Call/Transaction Does Not Exist',
  482: 'Loop Detected',
  483: 'Too Many Hops',
  484: 'Address Incomplete',
  485: 'Ambiguous',
  486: 'Busy Here',
  487: 'Request Terminated',
  488: 'Not Acceptable Here',
  489: 'Bad Event',
  491: 'Request Pending',
  493: 'Undecipherable',
  494: 'Security Agreement Required',
  500: 'Server Internal Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Server Time-out',
  505: 'Version Not Supported',
  513: 'Message Too Large',
  555: 'Push Notification Service Not Supported',
  580: 'Precondition Failure',
  600: 'Busy Everywhere',
  603: 'Decline',
  604: 'Does Not Exist Anywhere',
  606: 'Not Acceptable',
  607: 'Unwanted',
  608: 'Rejected',
}

const classes: Readonly<Record<number, string>> = {
  1: 'Session Progress',
  2: 'OK',
  3: 'Redirection',
  4: 'Request Failure',
  5: 'Server Failure',
  6: 'Global Failure',
}

/**
 * Returns the reason phrase of a status in the IANA registry of SIP parameters. A status that is not
 * registered gets the name of its class (RFC 3261 section 21).
 */
export const reasonPhrase = (status: number): string =>
  reasons[status] ?? classes[Math.floor(status / 100)] ?? 'Failure'
