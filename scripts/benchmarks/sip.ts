/** `scripts/bench sip`. */
import { agentCalls, agentMemory, srfAlone } from './sip-agent.ts'
import { gatewayCalls } from './sip-gateway.ts'
import { parser } from './sip-parser.ts'

/** Prints the figures of the parser, drachtio-srf, the agent with a trivial application, and the gateway. */
export const sip = async (): Promise<void> => {
  parser()
  await srfAlone()
  await agentCalls()
  await agentMemory()
  await gatewayCalls()
}
