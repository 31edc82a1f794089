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

/** Returns the embedded agent's options, from all settings that concern the agent. */
export const agentOptions = (config: Config, material: Material): SipAgentOptions => {
  const { listen, announce, announceTo, userAgent, messages, trace } = config.sip
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
    ...(trace.maxMessages > 0 && { trace }),
    shield: shieldOf(config.sip, allNetworks(knownNetworks(config))),
    viaPortNetworks: viaPortNetworksOf(config.carriers),
    reach: reachOf(config.sip, { ...config, carriers: owned(config) }),
    ...tlsOf(material),
  }
}

/** Returns the networks of carriers whose responses go to the port of the Via header. */
export const viaPortNetworksOf = (carriers: Config['carriers']): readonly string[] =>
  carriers.filter(({ responsePort }) => responsePort === 'via').flatMap(({ allow }) => allow)

/** Returns the part of the agent's options that comes from certificates. */
export const tlsOf = ({ sip, peers }: Material): Pick<SipAgentChange, 'tls' | 'tlsPeers'> => ({
  tls: sip,
  tlsPeers: peers,
})

/**
 * Returns the rules of the shield, which checks packets before the agent parses them. `known`: the networks
 * in the allow lists of domains and carriers.
 */
export const shieldOf = (sip: Pick<Config['sip'], 'shield'>, known: readonly string[]): SipShield => {
  const { scanners, strangers, ...shield } = sip.shield
  return {
    ...shield,
    // The gateway itself rejects requests of unknown sources; the shield only handles those to be dropped
    // silently.
    untrusted: strangers === 'drop' ? 'drop' : 'answer',
    scanners: scanners.map((part) => part.toLowerCase()),
    known,
  }
}

/** Returns the carriers of the file, each with its project; default: the first project. */
export const owned = ({
  carriers,
  project,
}: Pick<Config, 'carriers' | 'project'>): readonly CarrierConfig[] =>
  carriers.map((carrier) => ({ project, ...carrier }))

/**
 * Returns the rules for the destinations of the agent's requests: the carriers' targets, and the sites of the
 * operator's own domains.
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
