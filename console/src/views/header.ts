import type { ConnectionState } from '@trunkline/client'
import type { Account } from '../api.ts'
import { button, element, setText } from '../dom.ts'
import type { Phone } from '../phone.ts'
import type { View } from './view.ts'

const statusOf = (connection: ConnectionState, online: boolean): string => {
  if (connection === 'connecting') return 'Connecting…'
  if (connection === 'reconnecting') return 'Connection lost. Reconnecting…'
  if (connection === 'disconnected') return 'Not connected'
  return online ? 'Online: you can be called' : 'Offline: you cannot be called'
}

/** Creates the header: signed-in user, online switch, sign-out. */
export const headerView = (
  account: Account,
  phone: Phone,
  actions: { readonly setOnline: (online: boolean) => void; readonly signOut: () => void },
): View => {
  const knob = element('span', { class: 'knob' })
  const toggle = button(
    { id: 'online', class: 'switch', role: 'switch', 'data-testid': 'online' },
    () => actions.setOnline(!phone.isOnline),
    knob,
  )
  const state = element('p', { class: 'connection quiet', role: 'status', 'data-testid': 'connection' })
  const view = element(
    'header',
    { class: 'top' },
    element('img', { src: '/favicon.svg', alt: 'Trunkline', width: '36', height: '36' }),
    element(
      'div',
      { class: 'who' },
      element('strong', { 'data-testid': 'name' }, account.name),
      element('span', { class: 'quiet', 'data-testid': 'address' }, account.address),
    ),
    element('div', { class: 'presence' }, element('label', { for: 'online' }, 'Online'), toggle),
    state,
    button({ class: 'plain', 'data-testid': 'sign-out' }, actions.signOut, 'Sign out'),
  )
  return {
    element: view,
    update() {
      toggle.setAttribute('aria-checked', String(phone.isOnline))
      toggle.disabled = phone.isSwitching
      state.dataset.state = phone.connection
      state.dataset.online = String(phone.isOnline)
      setText(state, statusOf(phone.connection, phone.isOnline))
    },
  }
}
