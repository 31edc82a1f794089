import { beforeEach, describe, expect, it } from 'vitest'
import { ComposingAdmission, type ComposingRoom } from './composing-admission.ts'

/** Load of the process of all rooms without one of their own, and of the next room. */
let load: number

/** Room that records the decisions about it. */
class Room implements ComposingRoom {
  tiles: number
  readonly decisions: [boolean, string][] = []
  readonly #loadOfProcess: () => number

  constructor(tiles: number, loadOfProcess = () => load) {
    this.tiles = tiles
    this.#loadOfProcess = loadOfProcess
  }

  get load(): number {
    return this.#loadOfProcess()
  }

  setAdmitted(isAdmitted: boolean, reason: string): void {
    this.decisions.push([isAdmitted, reason])
    if (!isAdmitted) this.tiles = 0
  }
}

describe('admission to the composers', () => {
  let timers: (() => void)[]
  let admission: ComposingAdmission

  beforeEach(() => {
    load = 0
    timers = []
    const clock = {
      after: (ms: number, run: () => void) => {
        expect(ms).toBe(1000)
        timers.push(run)
        return { cancel: () => {} }
      },
    }
    admission = new ComposingAdmission({ load: () => load, clock })
  })

  const pass = (seconds: number) => {
    for (let i = 0; i < seconds; i++) for (const run of timers.splice(0)) run()
  }

  it('takes a new room up to a load of 80 %, and counts those that are composed', () => {
    load = 0.8
    expect(admission.join(new Room(3))).toBeUndefined()
    expect(admission.join(new Room(0))).toBeUndefined()
    load = 0.81
    expect(admission.join(new Room(2))).toBe('composer load 81 %')
    expect(admission.composed).toBe(1)
  })

  it('dismisses the room with the most tiles after 3 s above 95 %, then the next one', () => {
    const small = new Room(2)
    const large = new Room(9)
    for (const room of [small, large]) admission.join(room)
    load = 0.96
    pass(2)
    load = 0.95
    pass(1)
    load = 0.96
    pass(2)
    expect(large.decisions).toEqual([])
    pass(1)
    expect([large.decisions, small.decisions]).toEqual([[[false, 'composer load 96 %']], []])
    pass(2)
    expect(small.decisions).toEqual([])
    pass(1)
    expect(small.decisions).toEqual([[false, 'composer load 96 %']])
    pass(10)
    expect([large.decisions.length, small.decisions.length]).toEqual([1, 1])
  })

  it('dismisses a room of an overloaded process, although another process is idle', () => {
    const busy = new Room(2, () => 1)
    const largest = new Room(9, () => 0.5)
    for (const room of [largest, busy]) admission.join(room)
    load = 0.1
    pass(3)
    expect([busy.decisions, largest.decisions]).toEqual([[[false, 'composer load 100 %']], []])
    // The idle process composes it 30 s later.
    pass(27)
    expect(busy.decisions.at(-1)).toEqual([true, 'composer load 10 %'])
  })

  it('takes one waiting room after 30 s below 60 %, the first one first', () => {
    load = 0.9
    const first = new Room(0)
    const second = new Room(0)
    for (const room of [first, second]) admission.join(room)
    load = 0.59
    pass(29)
    load = 0.6
    pass(1)
    load = 0.59
    pass(29)
    expect(first.decisions).toEqual([])
    pass(1)
    expect([first.decisions, second.decisions]).toEqual([[[true, 'composer load 59 %']], []])
    pass(30)
    expect(second.decisions).toEqual([[true, 'composer load 59 %']])
  })

  it('forgets rooms that leave, and stops its timer with the last', () => {
    const room = new Room(4)
    admission.join(room)
    load = 1
    admission.leave(room)
    pass(5)
    expect([room.decisions, timers, admission.composed]).toEqual([[], [], 0])
    load = 0
    expect(admission.join(room)).toBeUndefined()
    expect(timers.length).toBe(1)
  })
})
