import { type Capabilities, capabilitiesOf } from '../../gateway/sip/link.ts'
import { DrachtioServer, type NamedServer, namedServer } from './drachtio-server.ts'

/** A SIP agent at which scenarios are run. */
export interface SipAgent {
  /** For the names of the tests. */
  readonly name: string
  /** What of the scenarios it can be asked for. */
  readonly capabilities: Capabilities
  /** A drachtio-server is there, or is started; undefined: the gateway has its own agent. */
  readonly server?: () => Promise<DrachtioServer>
}

/** The gateway's own agent. */
export const embedded: SipAgent = {
  name: 'the embedded agent',
  capabilities: capabilitiesOf({ embedded: true }),
}

const realServer = (named: NamedServer): SipAgent => ({
  name: 'a drachtio-server',
  capabilities: capabilitiesOf({ embedded: false }),
  server: () => DrachtioServer.start(named),
})

/** The server that `DRACHTIO_SERVER` names; undefined where it names none. */
export const named = namedServer(process.env)

/** The agents at which each scenario is run that they are capable of: always the embedded one, and the server that `DRACHTIO_SERVER` names. */
export const agents: readonly SipAgent[] = [embedded, ...(named ? [realServer(named)] : [])]
