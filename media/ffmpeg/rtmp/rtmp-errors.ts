/** Error of a server that does not take a stream. Its message is for customers, and never has the key. */
export class RtmpError extends Error {}

/** Returns the error of a server that breaks the rules of RTMP. `expectation`: the rule. */
export const brokenRtmp = (expectation: string): RtmpError =>
  new RtmpError(`The server does not keep to RTMP: ${expectation}.`)
