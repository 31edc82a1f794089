import type {
  SipAgentChange,
  SipAgentOptions,
  SipReach,
  SipReachCarrier,
  SipShield,
} from '@trunkline/sip-agent'
import type { CarrierConfig, Config } from '../../config/types.ts'
import type { Material } from '../auth/certificates.ts'
import { allNetworks, knownNetworks } from '../sip/admission/known-networks.ts'

/** How the embedded agent is set up: the whole of `sip` that concerns it, in its own words. */
export const agentOptions = (config: Config, material: Material): SipAgentOptions => {
  const { listen, announce, announceTo, userAgent, messages } = config.sip
  return {
    listen,
    announce,
    announceTo,
    userAgent: userAgent || undefined,
    deliversTrying: true,
    limits: {
      messageBytes: messages.bytes,
      headers: messages.headers,
      headerLength: messages.headerLength,
    },
    maxConnections: messages.connections,
    maxTransactions: messages.transactions,
    shield: shieldOf(config.sip, allNetworks(knownNetworks(config))),
    viaPortNetworks: viaPortNetworksOf(config.carriers),
    reach: reachOf(config.sip, { ...config, carriers: owned(config) }),
    ...tlsOf(material),
  }
}

/** Networks of the carriers that get their responses at the port of their Via. */
export const viaPortNetworksOf = (carriers: Config['carriers']): readonly string[] =>
  carriers.filter(({ responsePort }) => responsePort === 'via').flatMap(({ allow }) => allow)

/** What of the agent's set-up follows from certificates. */
export const tlsOf = ({ sip, peers }: Material): Pick<SipAgentChange, 'tls' | 'tlsPeers'> => ({
  tls: sip,
  tlsPeers: peers,
})

/**
 * The shield in front of the agent's parser. Who stands in an allow list, of a domain or of a carrier, is
 * known.
 */
export const shieldOf = (sip: Pick<Config['sip'], 'shield'>, known: readonly string[]): SipShield => {
  const { scanners, strangers, ...shield } = sip.shield
  return {
    ...shield,
    // The gateway refuses; only what is dropped never reaches it.
    untrusted: strangers === 'drop' ? 'drop' : 'answer',
    scanners: scanners.map((part) => part.toLowerCase()),
    known,
  }
}

/** Carriers of the file, each with its project: one that names none is the first project's. */
export const owned = ({
  carriers,
  project,
}: Pick<Config, 'carriers' | 'project'>): readonly CarrierConfig[] =>
  carriers.map((carrier) => ({ project, ...carrier }))

/**
 * Rules on where the agent's requests may go, by the carriers and the sites of the operator's own domains.
 */
export const reachOf = (
  { dialNetworks }: Pick<Config['sip'], 'dialNetworks'>,
  {
    carriers,
    domains,
  }: {
    readonly carriers: readonly CarrierConfig[]
    readonly domains: readonly {
      readonly allow?: readonly string[] | undefined
      readonly guarded?: boolean
    }[]
  },
): SipReach => ({
  networks: dialNetworks,
  carriers: carriers.map(reachOfCarrier),
  sites: domains.flatMap(({ allow, guarded }) => (allow && !guarded ? [allow] : [])),
})

const reachOfCarrier = ({
  name,
  project,
  guarded,
  auth,
  targets,
  allow,
  numbers,
}: CarrierConfig): SipReachCarrier => ({
  name,
  ...(project !== undefined && { project }),
  isGuarded: guarded === true,
  isByAddress: auth === undefined,
  ...(numbers && { hasNumberLists: true }),
  targets,
  networks: allow,
})
