import type { Clock, Timer } from '@trunkline/client'
import { button, element, setText, show } from '../dom.ts'
import { duration, initials } from '../format.ts'
import { icon } from '../icons.ts'
import type { Current, Phone } from '../phone.ts'
import type { View } from './header.ts'
import { Meter } from './meter.ts'

const keys = [
  ['1', ''],
  ['2', 'ABC'],
  ['3', 'DEF'],
  ['4', 'GHI'],
  ['5', 'JKL'],
  ['6', 'MNO'],
  ['7', 'PQRS'],
  ['8', 'TUV'],
  ['9', 'WXYZ'],
  ['*', ''],
  ['0', '+'],
  ['#', ''],
] as const

const names: Readonly<Record<string, string>> = { '*': 'star', '#': 'hash' }

const keypad = (phone: Phone): HTMLElement =>
  element(
    'div',
    { class: 'keypad', role: 'group', 'aria-label': 'Keypad' },
    ...keys.map(([key, letters]) =>
      button(
        { class: 'key', 'aria-label': names[key] ?? key, 'data-testid': `key-${names[key] ?? key}` },
        () => void phone.press(key),
        element('b', {}, key),
        element('small', { 'aria-hidden': 'true' }, letters),
      ),
    ),
  )

const captioned = (caption: string, meter: Meter): HTMLElement =>
  element(
    'div',
    { class: 'level' },
    element('span', { class: 'quiet', 'aria-hidden': 'true' }, caption),
    meter.element,
  )

/** What the panel is made of, besides the phone. */
export interface ActiveParts {
  readonly phone: Phone
  readonly clock: Clock
  readonly audio: () => AudioContext
}

/** The call that goes on. */
export const activeView = ({ phone, clock, audio }: ActiveParts): View => {
  const face = element('div', { class: 'face', 'aria-hidden': 'true' })
  const who = element('p', { class: 'caller', 'data-testid': 'party' })
  const number = element('p', { class: 'quiet' })
  const timer = element('p', { class: 'timer', role: 'timer', 'data-testid': 'timer' })
  const local = new Meter('Microphone level', 'local-level', audio)
  const remote = new Meter('Far side level', 'remote-level', audio)
  const mute = button(
    { class: 'round', 'data-testid': 'mute' },
    () => phone.toggleMute(),
    icon('microphone'),
    'Mute',
  )
  const hold = button(
    { class: 'round', 'data-testid': 'hold' },
    () => void phone.toggleHold(),
    icon('pause'),
    'Hold',
  )
  const pressed = element('span', { 'data-testid': 'digits-sent' })
  const received = element('span', { 'data-testid': 'digits-received', 'aria-live': 'polite' })
  const hangup = button(
    { class: 'reject wide', 'data-testid': 'hangup' },
    () => phone.hangup(),
    icon('handset'),
    'Hang up',
  )
  const levelsOf = element('div', { class: 'levels' }, captioned('You', local), captioned('Them', remote))
  const digits = element(
    'p',
    { class: 'digits' },
    element('span', { class: 'quiet' }, 'Sent '),
    pressed,
    element('span', { class: 'quiet apart' }, 'Received '),
    received,
  )
  const pad = keypad(phone)
  const view = element(
    'section',
    { class: 'active', 'aria-label': 'Current call', 'data-testid': 'active' },
    face,
    who,
    number,
    timer,
    levelsOf,
    element('div', { class: 'pair' }, mute, hold),
    pad,
    digits,
    hangup,
  )
  const animate = animation(clock, () => {
    local.draw()
    remote.draw()
    const since = phone.current?.answeredAt
    setText(timer, since === undefined ? '' : duration(clock.now() - since))
  })
  const fill = (current: Current) => {
    const { call, name } = current
    setText(face, initials(name))
    setText(who, name)
    setText(number, current.number === name ? '' : current.number)
    setText(pressed, current.pressed)
    setText(received, current.received)
    mute.setAttribute('aria-pressed', String(call.muted.audio))
    hold.setAttribute('aria-pressed', String(call.state === 'held'))
    setText(mute.lastChild as HTMLElement, call.muted.audio ? 'Unmute' : 'Mute')
    setText(hold.lastChild as HTMLElement, call.state === 'held' ? 'Resume' : 'Hold')
    hold.disabled = !call.active
    for (const key of pad.querySelectorAll('button')) key.disabled = !call.active && call.state !== 'early'
    show(digits, current.pressed !== '' || current.received !== '')
    show(levelsOf, call.active || call.state === 'early')
  }
  return {
    element: view,
    update() {
      const { current } = phone
      show(view, current !== undefined)
      if (current) fill(current)
      local.follow(current?.call.localStream)
      remote.follow(current?.call.remoteStream)
      animate(current !== undefined)
    },
  }
}

/** Runs `draw` about fifteen times a second while it is on. A timer and not an animation frame, which stands still in a hidden tab. */
const animation = (clock: Clock, draw: () => void): ((on: boolean) => void) => {
  let timer: Timer | undefined
  const step = () => {
    draw()
    timer = clock.after(66, step)
  }
  return (on) => {
    if (on && !timer) step()
    if (on || !timer) return
    timer.cancel()
    timer = undefined
    draw()
  }
}
