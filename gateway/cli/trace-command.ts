import { writeFileSync } from 'node:fs'
import type { TraceBody } from '../operator/call-trace.ts'
import { gatewayExit, printBody, requestGateway } from './gateway-request.ts'
import { pcapOf } from './pcap.ts'
import { traceLines } from './sip-ladder.ts'

/** Options of `trunkline trace`. */
export interface TraceOptions {
  /** Prints the ladder without the messages. */
  readonly ladder: boolean
  /** Writes the messages to this file in the format of packet captures. */
  readonly pcap: string | undefined
  readonly json: boolean
}

/** `trunkline trace`: prints the SIP messages of a call in progress or recently ended. */
export const traceGatewayCall = async (
  file: string,
  call: string,
  { ladder, pcap, json }: TraceOptions,
): Promise<number> => {
  const response = await requestGateway<TraceBody>(file, { command: 'trace', call })
  if (response.kind === 'failed') return response.exitCode
  const { body } = response
  if (pcap !== undefined) {
    writeFileSync(pcap, pcapOf(body.messages), { mode: 0o600 })
    process.stderr.write(`${body.messages.length} messages are in ${pcap}.\n`)
    return gatewayExit.done
  }
  printBody(body, json, () => traceLines(body, { withMessages: !ladder }))
  return gatewayExit.done
}
