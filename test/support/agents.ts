import { type Capabilities, capabilitiesOf } from '../../gateway/sip/agent-link.ts'
import { DrachtioServer, type NamedServer, namedServer } from './drachtio-server.ts'

/** SIP agent that the scenarios run against. */
export interface SipAgent {
  /** Name in the titles of tests. */
  readonly name: string
  /** Capabilities that scenarios may use. */
  readonly capabilities: Capabilities
  /** Connects to a running drachtio-server, or starts one. Undefined for the gateway's own agent. */
  readonly server?: () => Promise<DrachtioServer>
}

/** The gateway's own agent. */
export const embedded: SipAgent = {
  name: 'the embedded agent',
  capabilities: capabilitiesOf({ isEmbedded: true }),
}

const realServer = (named: NamedServer): SipAgent => ({
  name: 'a drachtio-server',
  capabilities: capabilitiesOf({ isEmbedded: false }),
  server: () => DrachtioServer.start(named),
})

/** The server that `DRACHTIO_SERVER` names; undefined without the variable. */
export const named = namedServer(process.env)

/** Agents for each scenario: always the embedded one, and the server that `DRACHTIO_SERVER` names. */
export const agents: readonly SipAgent[] = [embedded, ...(named ? [realServer(named)] : [])]
