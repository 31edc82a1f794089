import { describe, expect, it } from 'vitest'
import { type ComposerCommand, readCommand, readReport } from './composer-protocol.ts'

const stream = { ssrc: 1, payloadType: 96, cname: 'c', sequence: 0, timestamp: 0, pictureId: 0 }
const open = {
  op: 'open',
  room: 1,
  streams: { low: stream, high: stream },
  kbps: { low: 400, high: 1500 },
} as const
const layer = {
  memberId: 'a',
  x: 0,
  y: 0,
  width: 100,
  height: 100,
  z: 0,
  isVisible: true,
  fit: 'contain',
  name: 'Vera',
  isCaptioned: true,
} as const
const source = { op: 'addSource', room: 1, id: 'a', ssrc: 5, payloadType: 96, port: 5000 } as const

const commands: readonly ComposerCommand[] = [
  open,
  source,
  { op: 'removeSource', room: 1, id: 'a' },
  { op: 'draw', room: 1, layers: [layer], canvas: { width: 1920, height: 1080 } },
  { op: 'draw', room: 1, layers: [] },
  { op: 'low', room: 1, isEnabled: true },
  { op: 'keyFrame', room: 1 },
  { op: 'keyFrame', room: 1, rendition: 'low' },
  { op: 'close', room: 1 },
  { op: 'end' },
]

describe('a command to the composer', () => {
  it.each(commands)('$op passes the check unchanged', (command) => {
    expect(readCommand(JSON.parse(JSON.stringify(command)))).toEqual(command)
  })

  it.each([
    ['nothing', undefined],
    ['a text', 'open'],
    ['an unknown command', { op: 'format' }],
    ['a room of zero', { ...open, room: 0 }],
    ['no streams', { ...open, streams: null }],
    ['a payload type', { ...source, payloadType: 128 }],
    ['a port', { ...source, port: 0 }],
    ['an SSRC', { ...source, ssrc: 2 ** 32 }],
    ['an id', { ...source, id: 'x'.repeat(257) }],
    ['a rate', { ...open, kbps: { low: 1, high: 1500 } }],
    ['an endless layer', { op: 'draw', room: 1, layers: [{ ...layer, x: null }] }],
    ['many layers', { op: 'draw', room: 1, layers: Array.from({ length: 129 }, () => layer) }],
    ['an odd canvas', { op: 'draw', room: 1, layers: [], canvas: { width: 1281, height: 720 } }],
    ['a large canvas', { op: 'draw', room: 1, layers: [], canvas: { width: 3840, height: 720 } }],
    ['a rendition', { op: 'keyFrame', room: 1, rendition: 'medium' }],
    ['a fit', { op: 'draw', room: 1, layers: [{ ...layer, fit: 'stretch' }] }],
    ['a name', { op: 'draw', room: 1, layers: [{ ...layer, name: 'x'.repeat(257) }] }],
    ['a caption', { op: 'draw', room: 1, layers: [{ ...layer, isCaptioned: 1 }] }],
    ['visibility', { op: 'draw', room: 1, layers: [{ ...layer, isVisible: 1 }] }],
  ])('is rejected for %s', (_name, command) => {
    expect(() => readCommand(command)).toThrow(RangeError)
  })
})

describe('a report of the composer', () => {
  it.each([
    { op: 'ready' },
    { op: 'opened', room: 2, port: 40_000 },
    { op: 'failed', room: 2, reason: 'too many pictures' },
    { op: 'pictured', room: 2, id: 'a' },
    { op: 'stalled', room: 2, id: 'a' },
    { op: 'usage', load: 0.5, rooms: [{ room: 2, load: 0.25, rate: 30 }] },
  ] as const)('$op passes the check unchanged', (report) => {
    expect(readReport(JSON.parse(JSON.stringify(report)))).toEqual(report)
  })

  it.each([
    ['nothing', null],
    ['an unknown report', { op: 'exec' }],
    ['a port', { op: 'opened', room: 2, port: 70_000 }],
    ['a load', { op: 'usage', load: -1, rooms: [] }],
    ['rooms', { op: 'usage', load: 0, rooms: 'all' }],
    ['a long reason', { op: 'failed', room: 2, reason: 'x'.repeat(1001) }],
  ])('is rejected for %s', (_name, report) => {
    expect(() => readReport(report)).toThrow(RangeError)
  })
})
