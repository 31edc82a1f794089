import { texts } from '../texts/language.ts'
import { Icon, type IconName } from './icon.tsx'
import { type Page, usePage } from './page.ts'
import type { Tab } from './ui.ts'

const tabs: readonly (readonly [Tab, IconName])[] = [
  ['phone', 'keypad'],
  ['people', 'people'],
  ['recents', 'clock'],
  ['chats', 'chat'],
  ['settings', 'gear'],
]

const countOf = ({ phone, extras, recents, ui }: Page, tab: Tab): number => {
  if (tab === 'chats') return extras?.chats.unread ?? 0
  if (tab === 'recents') return recents.missed
  return tab === 'phone' && ui.tab.value !== 'phone' ? phone.lines.length : 0
}

/** Navigation between tabs: at the left of a wide page, at the bottom of a narrow one. */
export const Tabs = () => {
  const page = usePage()
  const { ui, phone } = page
  const t = texts.value
  const names: Readonly<Record<Tab, string>> = {
    phone: t.phoneTab,
    people: t.peopleTab,
    recents: t.callsTab,
    chats: t.messagesTab,
    settings: t.settingsTab,
  }
  // In a room, the list is closed until the user opens a tab, and again after a second click.
  const canClose = !ui.narrow.value && phone.current?.call.room !== undefined
  const current = !ui.narrow.value && !canClose && ui.tab.value === 'phone' ? 'people' : ui.tab.value
  const shown = tabs.filter(([tab]) => tab !== 'phone' || ui.narrow.value)
  return (
    <nav class="tabs" aria-label={t.mainNavigation}>
      {shown.map(([tab, icon]) => {
        const count = countOf(page, tab)
        return (
          <button
            key={tab}
            type="button"
            class="tab"
            aria-current={tab === current ? 'page' : undefined}
            aria-label={count > 0 ? t.tabWithNew(names[tab], count) : names[tab]}
            data-testid={`tab-${tab}`}
            onClick={() => {
              ui.tab.value = canClose && tab === current ? 'phone' : tab
            }}
          >
            <Icon name={icon} />
            <span>{names[tab]}</span>
            {count > 0 && <i class="count" data-count={count} />}
          </button>
        )
      })}
    </nav>
  )
}
