/** The order of layers: a table that the lint rules of `scripts/check/rules/layers.json` are made from. */
import { writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Packages and top-level folders, with those of the project that each may import. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  gateway: ['handlers', 'media', 'config', 'sip-agent'],
  'sip-agent': [],
  handlers: [],
  media: [],
  config: ['handlers'],
  client: [],
  react: ['client'],
  realtime: [],
  console: ['client'],
}

/** Rooms of `gateway/` from the lowest layer to the highest: each imports only rooms before it. */
export const rooms = [
  'core',
  'stand-ins',
  'model.ts',
  'directory',
  'reload',
  'auth',
  'cluster',
  'callbacks',
  'speech',
  'push',
  'rooms',
  'calls',
  'streams',
  'agents',
  'recordings',
  'cdr',
  'chat',
  'calling',
  'sip',
  'rpc',
  'operator',
  'http',
  'app',
  'agent-test',
  'cli',
  'main.ts',
] as const

/**
 * Folders of `gateway/sip/` from the lowest layer to the highest: each imports only folders before it.
 * A file beside the folders serves every folder and imports none of them, unless the table names it.
 */
const sipFolders = [
  'sdp',
  'digest',
  'media',
  'admission',
  'dialog',
  'trunks',
  'inbound',
  'outbound',
  'registrar',
  'sip-edge.ts',
] as const

/**
 * Folders of `gateway/calls/` from the lowest layer to the highest: each imports only folders before it.
 *
 * - `leg`: one signalling relationship with its media port, and the parts that bridges and verbs use.
 * - `call`: the customer's call: its caller, its other legs, its facts, and the ways to reach it.
 * - `local`: legs to addresses of this gateway, whose far side is a call of its own.
 * - `log`: rows, status callbacks and CDRs of calls.
 * - `audio`: sounds for a port, audio for waiting callers, and the store of recordings.
 * - `connect`: dialing of destinations, and the time together with the callee who wins.
 * - `conference`: conferences of all projects, and the participation of a call.
 * - `room`: room sessions of all projects with their media, and the membership of a call.
 * - `queue`: queues of all projects, and the visit of a caller.
 * - `verbs`: the one implementation of the verbs, on all of the above.
 * - `session`: calls in progress, and the handlers that control them.
 */
const callsFolders = [
  'leg',
  'call',
  'local',
  'log',
  'audio',
  'connect',
  'conference',
  'room',
  'queue',
  'verbs',
  'session',
] as const

/**
 * Folders of `gateway/directory/` from the lowest layer to the highest: each imports only folders before it.
 * `directory.ts` beside them is the entrance for the other rooms, and alone imports all.
 *
 * - `model`: types of projects, resources, subscribers, endpoints and tokens, and of their reads and writes.
 * - `store`: the database as the queries see it: its tables, its transactions and its SQLite file.
 * - `migrations`: steps that bring the tables of a store to the present version.
 * - `postgres`: the store in a PostgreSQL database, with notifications between gateways.
 * - `tables`: queries of tables that are always read from the store, such as calls, CDRs and messages.
 * - `index`: the content of the directory in memory, and its refresh after changes of any gateway.
 * - `writing`: changes by the API, through the store to memory.
 * - `provision`: declarations of the configuration file, at start and after a reload.
 * - `opening`: options of the directory, and the choice of its database.
 */
const directoryFolders = [
  'model',
  'store',
  'migrations',
  'postgres',
  'tables',
  'index',
  'writing',
  'provision',
  'opening',
  'directory.ts',
] as const

/**
 * Folders of `gateway/rpc/` from the lowest layer to the highest. Files beside them serve all.
 *
 * - `rooms`: requests about rooms and their bodies, for all dialects.
 * - `realtime`: methods of applications.
 * - `subscriber`: methods of browsers.
 * - `video`: methods of browsers with a room token, which share the calls of `subscriber`.
 */
const rpcFolders = ['rooms', 'realtime', 'subscriber', 'video'] as const

/**
 * Folders of `gateway/http/`, and the files above them, from the lowest layer to the highest.
 *
 * - `requests`: authentication, limits, validation and errors of requests.
 * - `routes`: one file for each resource.
 * - `oauth`: pages of OAuth 2.
 */
const httpFolders = ['requests', 'routes', 'oauth', 'http-site.ts', 'rest-api.ts', 'http-servers.ts'] as const

/**
 * Folders of `gateway/http/routes/`, and the files above them, from the lowest layer to the highest.
 *
 * - `shared`: lists, schemas and look-ups of several resources.
 * - `domain-apps`, `calling`, `cdr`, `fabric` and `video`: routes of one API each.
 * - `compat`: compatibility API, which shows the CDRs and recordings of `cdr` in its own form.
 */
const httpRoutesFolders = [
  'shared',
  'domain-apps',
  'calling',
  'cdr',
  'fabric',
  'video',
  'compat',
  'carrier-routes.ts',
  'device-routes.ts',
  'oauth-client-routes.ts',
  'project-token-routes.ts',
] as const

/**
 * Folders of `sip-agent/`, and the files above them, from the lowest layer to the highest.
 *
 * - `ip`: addresses and networks.
 * - `message`: parser and serialiser of SIP messages.
 * - `transport`: sockets and connections to peers, and the hops that a request can take.
 * - `shield`: filter in front of the parser.
 * - `route`: next hops of requests, by DNS (RFC 3263).
 * - `transaction`: client and server transactions.
 * - `drachtio`: connections of applications, and their protocol.
 * - `reach`: rules on the destinations of requests.
 * - `dialog`: dialogs of calls and subscriptions.
 * - `core`: user agents: requests from the network to applications, and from applications to the network.
 * - `proxy`: requests that applications forward by the agent.
 */
const sipAgentFolders = [
  'ip',
  'message',
  'transport',
  'shield',
  'route',
  'transaction',
  'drachtio',
  'reach',
  'dialog',
  'core',
  'proxy',
  'types.ts',
  'receiver.ts',
  'agent.ts',
  'serve.ts',
  'agent.worker.ts',
  'index.ts',
] as const

/**
 * Folders of `sip-agent/core/` from the lowest layer to the highest. Files beside them serve both.
 *
 * - `uas`: requests from the network, and the responses of applications.
 * - `uac`: requests of applications and of the agent itself, and their responses.
 */
const agentCoreFolders = ['uas', 'uac'] as const

/**
 * Folders of `handlers/`, and the files beside them, from the lowest layer to the highest.
 *
 * - `verb-types`: interface of a call, with the options, results and errors of its verbs.
 * - `common`: documents, forms and values that several languages share.
 * - `agent`: voice agents: their documents, functions, steps and reports.
 * - `relay`: conversations whose texts a customer's server has.
 * - `xml`: language of XML documents.
 * - `script`: language of scripts, and its sandbox.
 * - `flow`: language of call flows, which are compiled to scripts.
 * - `reading`: readers and checks of documents of every language, in worker threads.
 */
const handlersFolders = [
  'verb-types',
  'verbs.ts',
  'handler.ts',
  'common',
  'agent',
  'relay',
  'xml',
  'script',
  'flow',
  'reading',
] as const

/**
 * Folders of `handlers/script/`, and the files above them, from the lowest layer to the highest. The files
 * beside them serve all, such as the syntax of one method and the checks of its parameters.
 *
 * - `sandbox`: threads that evaluate expressions.
 * - `methods`: one file for each method or group of methods.
 */
const scriptFolders = [
  'sandbox',
  'variables.ts',
  'method.ts',
  'methods',
  'step-reader.ts',
  'document.ts',
  'schema.ts',
  'write-schema.ts',
  'loading.ts',
  'run.ts',
  'handler.ts',
  'agent-requests.ts',
] as const

/**
 * Folders of `handlers/xml/`, and the files above them, from the lowest layer to the highest.
 *
 * - `nouns`: elements inside of verbs.
 * - `verbs`: one file for each verb or group of verbs.
 */
const xmlFolders = ['nouns', 'verbs', 'document.ts', 'run.ts', 'handler.ts'] as const

/**
 * Folders of `media/`, and `types.ts`, from the lowest layer to the highest.
 *
 * - `api`: interfaces that the gateway uses.
 * - `codecs`: encoders and decoders of audio.
 * - `rtp`: streams of packets, without sockets and clocks.
 * - `mix`: mixers of audio.
 * - `detect`: detection of tones, speech, faxes and answering machines.
 * - `record`: recordings, and their files.
 * - `sound`: decoders of audio files, speech synthesis and tones.
 * - `edge`: ports that send and receive RTP.
 * - `rooms`: one video stream of changing sources, without sockets and clocks.
 * - `compose`: pictures of rooms, composed in processes of their own.
 * - `ffmpeg`: files and streams that ffmpeg reads and writes, in processes of its own.
 * - `webrtc`: sessions of browsers.
 */
const mediaFolders = [
  'api',
  'types.ts',
  'codecs',
  'rtp',
  'mix',
  'detect',
  'record',
  'sound',
  'edge',
  'rooms',
  'compose',
  'ffmpeg',
  'webrtc',
] as const

/**
 * Folders of `media/webrtc/`, and the files above them, from the lowest layer to the highest.
 *
 * - `sdp`: session descriptions.
 * - `video`: video of a session.
 * - `tracks`: cameras that a browser receives on lines of their own.
 * - `rooms`: video of rooms.
 */
const webrtcFolders = [
  'sdp',
  'video-parameters.ts',
  'routers.ts',
  'worker-supervisor.ts',
  'm-line.ts',
  'relay-ports.ts',
  'relay.ts',
  'video',
  'webrtc-session.ts',
  'browser-session.ts',
  'source-session.ts',
  'tracks',
  'rooms',
  'webrtc.ts',
] as const

/**
 * Folders of `config/`, and the files above them, from the lowest layer to the highest. The languages of
 * documents in the configuration come from `handlers/`.
 *
 * - `schema`: form of the configuration file.
 * - `rules`: checks beyond the schema.
 */
const configFolders = [
  'schema',
  'write-schema.ts',
  'file-config.ts',
  'from-schema.ts',
  'types.ts',
  'secret-mask.ts',
  'config-source.ts',
  'projects.ts',
  'handler-loader.ts',
  'agent-kinds.ts',
  'build-agents.ts',
  'build-config.ts',
  'validate.ts',
  'rules',
  'carrier-entry.ts',
  'changes.ts',
  'load.ts',
  'document-places.ts',
  'effective-config.ts',
  'document-changes.ts',
] as const

/**
 * Tables of folders, by the path of the folder that contains them. A table stands after the table around it,
 * because the last rule for a file decides.
 */
export const folderTables: Readonly<Record<string, readonly string[]>> = {
  'gateway/directory': directoryFolders,
  'gateway/calls': callsFolders,
  'gateway/sip': sipFolders,
  'gateway/rpc': rpcFolders,
  'gateway/http': httpFolders,
  'gateway/http/routes': httpRoutesFolders,
  'sip-agent': sipAgentFolders,
  'sip-agent/core': agentCoreFolders,
  handlers: handlersFolders,
  'handlers/xml': xmlFolders,
  'handlers/script': scriptFolders,
  media: mediaFolders,
  'media/webrtc': webrtcFolders,
  config: configFolders,
}

/** Folders that no product folder imports. */
const neverImported = ['test', 'scripts']

/** Packages that import others by name; the relative path of such a package is closed to all others. */
const named = ['sip-agent', 'client', 'react', 'realtime']

/** One entry of `overrides` in biome's configuration. */
interface LayerRule {
  readonly includes: readonly string[]
  readonly linter: { readonly rules: { readonly style: { readonly noRestrictedImports: unknown } } }
}

const rule = (includes: readonly string[], group: readonly string[], message: string): LayerRule => {
  const noRestrictedImports = { level: 'error', options: { patterns: [{ group, message }] } }
  return { includes, linter: { rules: { style: { noRestrictedImports } } } }
}

/** Clients keep their sources in `src`; the gateway has a folder of its own that is called `realtime`. */
const clients = ['client', 'react', 'realtime', 'console']

const folder = (name: string): string => `../**/${name}/${clients.includes(name) ? 'src/' : ''}**`

/** Patterns of the imports that a package must not have. */
const closedTo = (name: string, allowed: readonly string[]): readonly string[] => [
  ...Object.keys(packages)
    .filter((other) => other !== name && (!allowed.includes(other) || named.includes(other)))
    .map(folder),
  ...neverImported.map(folder),
  '@trunkline/*',
  // A package with subpaths (`@trunkline/sip-agent/clock`) needs a pattern of its own.
  '@trunkline/*/**',
  ...[name, ...allowed]
    .filter((other) => named.includes(other))
    .flatMap((other) => [`!@trunkline/${other}`, `!@trunkline/${other}/**`]),
]

const listed = (names: readonly string[]): string =>
  names.length > 0 ? `${names.join(', ')} only` : 'nothing of ours'

/** Files that no rule of `gateway` covers: tests, and what they share, may build on rooms above. */
const exceptTests = ['!**/*.test.ts', '!**/testing/**']

/** Returns the patterns of the rooms above a room. */
const roomsAbove = (room: (typeof rooms)[number]): readonly string[] =>
  rooms.slice(rooms.indexOf(room) + 1).map((name) => (name.endsWith('.ts') ? `../**/${name}` : folder(name)))

/** Returns the lint rules: one for each package, room of the gateway, and entry of a table of folders. */
export const layerRules = (): readonly LayerRule[] => {
  const ofPackages = Object.entries(packages).map(([name, allowed]) =>
    rule([`${name}/**`], closedTo(name, allowed), `${name}/ imports ${listed(allowed)}.`),
  )
  const closed = closedTo('gateway', packages.gateway ?? [])
  const ofRooms = rooms.map((room, at) => {
    const below = rooms.slice(0, at)
    const includes = room.endsWith('.ts') ? `gateway/${room}` : `gateway/${room}/**`
    return rule(
      [includes, ...exceptTests],
      [...closed, ...roomsAbove(room)],
      `gateway/${room} imports ${listed(packages.gateway ?? [])}, and of gateway/ only: ${below.join(', ')}.`,
    )
  })
  return [...ofPackages, ...ofRooms, ...Object.keys(folderTables).flatMap(folderRules)]
}

/** Returns the pattern of an entry of a table, relative to the parent of the entry. */
const entry = (name: string): string => (name.endsWith('.ts') ? name : `${name}/**`)

/**
 * Returns the patterns of the higher entries of a table, as a folder and its folders import them. An entry
 * may have the name of an entry in the table around, which the folder then imports by the longer path.
 */
const above = (path: string, name: string): readonly string[] => {
  const table = folderTables[path] ?? []
  const around = folderTables[dirname(path)] ?? []
  return table
    .slice(table.indexOf(name) + 1)
    .flatMap((higher) =>
      around.includes(higher) ? [`../${entry(higher)}`] : [`../${entry(higher)}`, `../../${entry(higher)}`],
    )
}

/** Returns the patterns that the package, the room and the table around close to the folder at `path`. */
const closedAround = (path: string): readonly string[] => {
  const [name = '', inside = ''] = path.split('/')
  const room = name === 'gateway' ? rooms.find((each) => each === inside) : undefined
  return [
    ...closedTo(name, packages[name] ?? []),
    ...(room ? roomsAbove(room) : []),
    ...above(dirname(path), basename(path)),
  ]
}

/** Returns the rules of the table of the folder at `path`. They replace the rule of the folder. */
const folderRules = (path: string): readonly LayerRule[] => {
  const table = folderTables[path] ?? []
  const closed = closedAround(path)
  const ofEntries = table.map((name, at) => {
    const higher = name.endsWith('.ts')
      ? table.slice(at + 1).map((other) => `./${entry(other)}`)
      : above(path, name)
    return rule(
      [`${path}/${entry(name)}`, ...exceptTests],
      [...closed, ...higher],
      `${path}/${name} imports, of the entries of its table, ${listed(table.slice(0, at))}.`,
    )
  })
  const ofFiles = rule(
    [
      `${path}/*.ts`,
      ...table.filter((name) => name.endsWith('.ts')).map((name) => `!${path}/${name}`),
      ...exceptTests,
    ],
    [...closed, ...table.map((name) => `./${entry(name)}`)],
    `Files beside the folders of ${path} import none of these folders.`,
  )
  return [...ofEntries, ofFiles]
}

/** Path of the generated rules, which `biome.json` extends. */
export const layersFile = join(import.meta.dirname, 'rules', 'layers.json')

/** Returns the content of {@link layersFile}, with one rule in a line. */
export const layersJson = (): string =>
  `{"overrides":[\n${layerRules()
    .map((each) => JSON.stringify(each))
    .join(',\n')}\n]}\n`

if (import.meta.main) writeFileSync(layersFile, layersJson())
