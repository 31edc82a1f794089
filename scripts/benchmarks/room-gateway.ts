/** Gateway with rooms and members for the benchmarks of rooms. */
import { application, scripted } from '../../test/support/applications.ts'
import { Gateway } from '../../test/support/gateway.ts'
import { made } from '../../test/support/rest.ts'
import { emailOf, tokenOf, withToken } from '../../test/support/sdk-people.ts'
import { type BotSound, BotSources } from './bot-sources.ts'
import { type BotMedia, BrowserBot } from './browser-bot.ts'
import { PhoneBot } from './phone-bot.ts'
import { cpuSeconds, family, memory } from './processes.ts'
import { unlimited } from './sip-gateway.ts'

/** Settings of a {@link RoomGateway}. */
export interface RoomGatewayOptions {
  readonly rooms: readonly string[]
  /** Picture of the rooms; default that of the speaker. */
  readonly picture?: 'auto' | 'speaker'
  /** Sound of the browsers that speak; default speech. */
  readonly sound?: BotSound
  /** Further keys of the rooms, as the API has them. */
  readonly settings?: object
  /** Number of subscribers; each one joins one room at a time. */
  readonly people: number
  /** Largest number of members at a time. */
  readonly members: number
}

const nameOf = (index: number): string => `person${index}`

/** CPU time in seconds: of the gateway's own process with its media threads, and of mediasoup's. */
export interface RoomCpu {
  readonly gateway: number
  readonly mediasoup: number
}

/** A gateway in a process of its own, with rooms and the sources of its members. */
export class RoomGateway {
  readonly gateway: Gateway
  readonly sources: BotSources
  readonly #tokens: readonly string[]

  private constructor(gateway: Gateway, sources: BotSources, tokens: readonly string[]) {
    this.gateway = gateway
    this.sources = sources
    this.#tokens = tokens
  }

  static async start({
    rooms,
    picture = 'speaker',
    sound = 'speech',
    settings,
    people,
    members,
  }: RoomGatewayOptions): Promise<RoomGateway> {
    const sources = await BotSources.start(sound)
    const gateway = await Gateway.start({
      ...withToken,
      rtpPorts: 8 * members + 400,
      media: { rooms: { picture } },
      sip: unlimited,
      subscribers: Array.from({ length: people }, (_, index) => ({
        email: emailOf(nameOf(index)),
        password: 'wonderland-9',
      })),
      domains: rooms.map((name) => application(`${name}.test`, scripted({ join_room: { name } }))),
    })
    for (const name of rooms)
      await made(gateway, '/api/fabric/resources/conference_rooms', {
        name,
        tone_on_entry_and_exit: false,
        max_members: 300,
        ...settings,
      })
    const tokens: string[] = []
    for (let index = 0; index < people; index++) tokens.push(await tokenOf(gateway, nameOf(index)))
    return new RoomGateway(gateway, sources, tokens)
  }

  /** Lets a subscriber join a room by the address of its channel. */
  browser(person: number, room: string, media: BotMedia = {}): Promise<BrowserBot> {
    const to = `/public/${room}?channel=${media.hasVideo ? 'video' : 'audio'}`
    const token = this.#tokens[person]!
    return BrowserBot.join(this.sources, this.gateway.httpPort, { token, to }, media)
  }

  phone(room: string, onAudio?: (payload: Buffer) => void): Promise<PhoneBot> {
    return PhoneBot.join(this.gateway.sipPort, `sip:room@${room}.test`, onAudio)
  }

  /** Returns the CPU time so far. */
  cpu(): RoomCpu {
    const pids = family(this.gateway.pid)
    const workers = pids.filter((pid) => memory([pid])[0]?.name.startsWith('mediasoup'))
    return {
      gateway: cpuSeconds(pids.filter((pid) => !workers.includes(pid))),
      mediasoup: cpuSeconds(workers),
    }
  }

  async stop(): Promise<void> {
    this.sources.close()
    await this.gateway.stop()
  }
}
