import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../core/clock.ts'
import type { EngineFailure } from '../../engine.ts'
import { type EngineProtocol, EngineSocket } from './engine-socket.ts'
import { EngineServer } from './testing/engine-server.ts'

let server: EngineServer

beforeEach(async () => {
  server = await EngineServer.open()
})

afterEach(() => server.close())

/** Opens a socket whose protocol throws `error` for every message. Returns its failure. */
const open = (error: unknown): Promise<EngineFailure> => {
  const raise = (): never => {
    throw error
  }
  return new Promise((onFailure) => {
    const protocol: EngineProtocol = {
      onOpen: () => {},
      onMessage: raise,
      onBinary: raise,
      audioMessage: (audio) => audio,
      onWarning: () => {},
      onFailure,
    }
    const target = { part: 'test', url: server.url, secrets: [], octetsPerSecond: 8000 }
    new EngineSocket(target, protocol, new FakeClock()).connect()
  })
}

describe('the socket of an engine, recogniser or voice', () => {
  it.each([
    ['{}', new RangeError('words of the caller'), 'RangeError'],
    [Buffer.of(1), new TypeError('words of the caller'), 'TypeError'],
    ['{}', undefined, 'unknown error'],
  ])('fails for the message %j that its protocol cannot process', async (message, error, name) => {
    const failure = open(error)
    const far = await server.connection()
    far.send(message)
    expect(await failure).toEqual({
      kind: 'protocol',
      part: 'test',
      message: `a message of the server cannot be processed (${name})`,
    })
  })
})
