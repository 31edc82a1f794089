type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Moves the schemas of bodies into `components` of an OpenAPI document, so that generators of clients make a
 * named type of each. Equal schemas share one name. Changes the document in place.
 */
export const nameSchemas = (document: object): void => {
  openObjects(document)
  const { paths = {}, components } = document as { paths?: Json; components: { schemas: Json } }
  const names = new SchemaNames(components.schemas)
  for (const [path, item] of Object.entries(paths))
    for (const [method, operation] of Object.entries(item as Json))
      if (isObject(operation)) nameBodies(operation, { method, path, names })
}

/**
 * Says of each object without properties that it may have any. Generators would make a type of it that has
 * none.
 */
const openObjects = (part: unknown): void => {
  if (Array.isArray(part)) part.forEach(openObjects)
  if (!isObject(part)) return
  const isObjectType = [part.type].flat().includes('object')
  const isBare = isObjectType && !('properties' in part || 'patternProperties' in part)
  if (isBare) part.additionalProperties ??= true
  Object.values(part).forEach(openObjects)
}

interface Place {
  readonly method: string
  readonly path: string
  readonly names: SchemaNames
}

const nameBodies = (operation: Json, { method, path, names }: Place): void => {
  const noun = nounOf(path)
  const isItem = path.endsWith('}')
  const verb = verbOf(method, path, isItem)
  for (const media of mediaOf(operation.requestBody)) names.move(media, 'schema', [noun, verb])
  for (const [status, response] of Object.entries(operation.responses as Json)) {
    if (!status.startsWith('2')) continue
    for (const media of mediaOf(response)) {
      const data = listOf(media.schema)
      if (data) names.move(data, 'items', [noun, ''])
      const isList = data !== undefined || (method === 'get' && !isItem && noun.word.startsWith('Compat'))
      names.move(media, 'schema', [noun, isList ? 'List' : ''])
    }
  }
}

/** Returns the end of the name of a body. */
const verbOf = (method: string, path: string, isItem: boolean): string => {
  if (/^\/api\/fabric\/resources\/\{id\}\/./.test(path)) return 'Assignment'
  return method === 'post' && !isItem ? 'Create' : 'Update'
}

const mediaOf = (part: unknown): Json[] =>
  isObject(part) && isObject(part.content) ? Object.values(part.content).filter(isObject) : []

/** Returns the array schema of the items of a list. */
const listOf = (schema: unknown): Json | undefined => {
  if (!isObject(schema) || !isObject(schema.properties)) return undefined
  const { data } = schema.properties
  return isObject(data) && isObject(data.items) ? data : undefined
}

/** Schemas that have a name. */
class SchemaNames {
  readonly #schemas: Json
  readonly #byText = new Map<string, string>()

  constructor(schemas: Json) {
    this.#schemas = schemas
  }

  /** Replaces the object schema in a field of `holder` by a reference to the name, or to a free one. */
  move(holder: Json, field: string, [noun, ending]: readonly [Noun, string]): void {
    const schema = holder[field]
    if (!isObject(schema) || !isObject(schema.properties)) return
    const text = JSON.stringify(schema)
    const name = this.#byText.get(text) ?? this.#free([noun.word, `${noun.area}${noun.word}`], ending)
    this.#byText.set(text, name)
    this.#schemas[name] = schema
    holder[field] = { $ref: `#/components/schemas/${name}` }
  }

  /** Returns the first free name. A second form of an object shows more of it. */
  #free(words: readonly string[], ending: string): string {
    const names = [...words, ...words.map((word) => `${word}Details`)].map((word) => `${word}${ending}`)
    const free = names.find((name) => !(name in this.#schemas))
    if (!free) throw new Error(`No free name for a schema: ${names.join(', ')}.`)
    return free
  }
}

/** Name of the objects below a path, and the name of the area that makes it unique. */
interface Noun {
  readonly word: string
  readonly area: string
}

/** Nouns of collections whose last part says too little, by their path. */
const nouns: Readonly<Record<string, string>> = {
  '/api/fabric/subscriber/calls': 'SubscriberCall',
  '/api/project/tokens': 'ProjectToken',
  '/api/fabric/subscribers/tokens': 'SubscriberToken',
  '/api/fabric/subscribers/tokens/refresh': 'TokenPair',
  '/api/calling/calls': 'ApiCall',
  '/api/records/calls': 'CallCdr',
  '/api/records/legs': 'LegCdr',
  '/api/voice/logs': 'VoiceLog',
  '/api/relay/rest/endpoints/sip': 'RelaySipEndpoint',
  '/api/fabric/messages': 'Message',
  '/api/video/rooms': 'VideoRoom',
  '/api/video/conferences': 'VideoConference',
  '/api/video/room_sessions/{id}/events': 'RoomEvent',
  '/api/video/room_sessions/{id}/members': 'RoomMember',
  '/api/video/logs': 'VideoLog',
}

/** Returns the noun of a path, such as `SipEndpoint` for `/api/fabric/sip_endpoints/{id}`. */
const nounOf = (path: string): Noun => {
  const own = nouns[path.replace(/\/\{\w+\}$/, '')]
  if (own !== undefined) return { word: own, area: '' }
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith('{'))
  const word = singular(parts.at(-1) ?? '')
  const before = singular(parts.at(-2) ?? '')
  if (path.startsWith('/api/laml/')) return { word: `Compat${camel(word)}`, area: camel(before) }
  // These words say nothing without the word before.
  const isVague = [
    'event',
    'sip',
    'rpc',
    'info',
    'secret',
    'version',
    'join',
    'refresh',
    'reset',
    'exchange',
    'revoke',
  ].includes(word)
  return { word: isVague ? camel(`${before}_${word}`) : camel(word), area: camel(before) }
}

const singular = (word: string): string =>
  word
    .replace(/ies$/, 'y')
    .replace(/sses$/, 'ss')
    .replace(/([^s])s$/, '$1')

const camel = (word: string): string =>
  word.replaceAll(/(?:^|[_.-])([A-Za-z])/g, (_, letter: string) => letter.toUpperCase())
