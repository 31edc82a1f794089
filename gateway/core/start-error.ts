import { describeProcess, holderOfPort } from './processes.ts'

/** Error of a start. Its message begins with the key of the configuration that names the cause. */
export class StartError extends Error {
  readonly key: string

  constructor(key: string, reason: string, cause: unknown) {
    super(`${key}: ${reason}`, { cause })
    this.name = 'StartError'
    this.key = key
  }
}

/** Address of a listener that could not be opened. */
export interface FailedListener {
  /** Key of the configuration, such as `sip.listen[0]`. */
  readonly key: string
  readonly protocol: 'udp' | 'tcp'
  readonly address: string
  readonly port: number
}

/** Returns the error of a listener. The message names the process that holds the port, as far as known. */
export const listenError = ({ key, protocol, address, port }: FailedListener, cause: unknown): StartError => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const host = address.includes(':') ? `[${address}]` : address
  const reason = bindReason(text, protocol, port)
  return new StartError(key, `cannot listen on ${protocol} ${host}:${port}: ${reason}`, cause)
}

const bindReason = (text: string, protocol: 'udp' | 'tcp', port: number): string => {
  if (/EADDRINUSE|address already in use/i.test(text)) {
    const holder = holderOfPort(protocol, port)
    return `the port is taken${holder ? ` by ${describeProcess(holder)}` : ''}.`
  }
  if (/EADDRNOTAVAIL|address not available/i.test(text)) return 'this machine does not have the address.'
  if (/EACCES|permission denied/i.test(text))
    return 'this user may not use the port; ports below 1024 need the capability CAP_NET_BIND_SERVICE.'
  return text
}
