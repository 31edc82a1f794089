import type { Clock, Timer } from '@trunkline/client'
import { button, element, setText, show } from '../dom.ts'
import { duration, initials } from '../format.ts'
import { type Icon, icon } from '../icons.ts'
import type { Line } from '../lines.ts'
import type { Phone } from '../phone.ts'
import { keypad } from './keypad.ts'
import { Meter } from './meter.ts'
import { Picture } from './picture.ts'
import type { View } from './view.ts'

/** Collaborators of the panel, besides the phone. */
export interface ActiveDeps {
  readonly phone: Phone
  readonly clock: Clock
  readonly audio: () => AudioContext
}

const captioned = (caption: string, meter: Meter): HTMLElement =>
  element(
    'div',
    { class: 'level' },
    element('span', { class: 'quiet', 'aria-hidden': 'true' }, caption),
    meter.element,
  )

/** Creates a toggle button of the bar, with a label for each state. */
const toggle = (
  name: string,
  picture: Icon,
  press: () => void,
  labels: readonly [off: string, on: string],
) => {
  const label = element('span', {})
  const made = button({ class: 'tool', 'data-testid': name }, press, icon(picture), label)
  return {
    element: made,
    set(on: boolean, enabled: boolean) {
      made.setAttribute('aria-pressed', String(on))
      made.disabled = !enabled
      setText(label, labels[on ? 1 : 0])
    },
  }
}

const canShare = () => typeof navigator.mediaDevices?.getDisplayMedia === 'function'

/** Creates the buttons of the current call. `openPad` shows and hides the keypad. */
const tools = ({ controls }: Phone, openPad: () => void) => {
  const mute = toggle('mute', 'microphone', () => controls.toggleMute(), ['Mute', 'Unmute'])
  const camera = toggle('camera', 'camera', () => void controls.toggleCamera(), ['Video', 'Stop video'])
  const share = toggle('share', 'screen', () => void controls.toggleShare(), ['Share', 'Stop sharing'])
  const pad = toggle('keypad', 'keypad', openPad, ['Keypad', 'Keypad'])
  const hold = toggle('hold', 'pause', () => void controls.toggleHold(), ['Hold', 'Resume'])
  const all = [mute, camera, share, pad, hold]
  return {
    element: element('div', { class: 'tools' }, ...all.map((tool) => tool.element)),
    update({ call }: Line, padIsOpen: boolean) {
      const talking = call.state === 'active'
      const sharing = call.active && call.screenShareList.some(({ state }) => state !== 'ended')
      mute.set(call.muted.audio, call.state !== 'held')
      camera.set(call.active && call.video.local, talking)
      share.set(sharing, talking)
      show(share.element, canShare())
      pad.set(padIsOpen, call.active || call.state === 'early')
      hold.set(call.state === 'held', call.active)
    },
  }
}

const partyOf = () => {
  const face = element('div', { class: 'face', 'aria-hidden': 'true' })
  const who = element('p', { class: 'caller', 'data-testid': 'party' })
  const number = element('p', { class: 'quiet' })
  const timer = element('p', { class: 'timer', role: 'timer', 'data-testid': 'timer' })
  return {
    face,
    element: element('div', { class: 'party' }, face, element('div', {}, who, number), timer),
    timer,
    update({ name, number: dialled }: Line) {
      setText(face, initials(name))
      setText(who, name)
      setText(number, dialled === name ? '' : dialled)
    },
  }
}

const digitsOf = () => {
  const keys = (caption: string, attributes: Readonly<Record<string, string>>) => {
    const digits = element('span', attributes)
    const view = element('span', {}, element('span', { class: 'quiet' }, `${caption} `), digits)
    return {
      element: view,
      set(text: string) {
        setText(digits, text)
        show(view, text !== '')
      },
    }
  }
  const sent = keys('Sent', { 'data-testid': 'digits-sent' })
  const receivedKeys = keys('Received', { 'data-testid': 'digits-received', 'aria-live': 'polite' })
  const view = element('p', { class: 'digits' }, sent.element, receivedKeys.element)
  return {
    element: view,
    update({ pressed, received }: Line) {
      sent.set(pressed)
      receivedKeys.set(received)
      show(view, pressed !== '' || received !== '')
    },
  }
}

/** Creates the panel of the current call. */
export const activeView = ({ phone, clock, audio }: ActiveDeps): View => {
  let padIsOpen = false
  let displayed: Line['call'] | undefined
  const picture = new Picture()
  const party = partyOf()
  const digits = digitsOf()
  const local = new Meter('Microphone level', 'local-level', audio)
  const remote = new Meter('Level of the other party', 'remote-level', audio)
  const meters = element('div', { class: 'levels' }, captioned('You', local), captioned('Them', remote))
  const pad = keypad((key) => void phone.controls.press(key), 'key')
  const bar = tools(phone, () => {
    padIsOpen = !padIsOpen
    update()
  })
  const hangup = button(
    { class: 'reject wide', 'data-testid': 'hangup' },
    () => phone.controls.hangup(),
    icon('handset'),
    'Hang up',
  )
  const view = element(
    'section',
    { class: 'active', 'aria-label': 'Current call', 'data-testid': 'active' },
    picture.element,
    party.element,
    meters,
    digits.element,
    pad,
    element('div', { class: 'bottom' }, bar.element, hangup),
  )
  const animate = animation(clock, () => {
    local.draw()
    remote.draw()
    const since = phone.current?.answeredAt
    setText(party.timer, since === undefined ? '' : duration(clock.now() - since))
  })
  const update = () => {
    const { current } = phone
    if (current?.call !== displayed) padIsOpen = false
    displayed = current?.call
    show(view, current !== undefined)
    view.classList.toggle('pad-open', padIsOpen)
    view.classList.toggle('seen', picture.follow(current?.call))
    if (current) {
      const { call } = current
      for (const part of [party, digits]) part.update(current)
      bar.update(current, padIsOpen)
      show(pad, padIsOpen && (call.active || call.state === 'early'))
      show(meters, call.active || call.state === 'early')
    }
    local.follow(current?.call.localStream)
    remote.follow(current?.call.remoteStream)
    animate(current !== undefined)
  }
  return { element: view, update }
}

/**
 * Runs `draw` about fifteen times a second while it is on. It uses a timer: animation frames stop in a hidden
 * tab.
 */
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
