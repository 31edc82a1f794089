import type { ComponentType } from 'preact'
import { texts } from '../texts/language.ts'
import { CallView } from './call.tsx'
import { CallState } from './call-state.tsx'
import { Dial } from './dial.tsx'
import { useCallFocus } from './focus.ts'
import { useFollowed } from './follow.ts'
import { IncomingCalls } from './incoming.tsx'
import { lazy } from './lazy.tsx'
import { Notices } from './notices.tsx'
import { type Page, PageContext, usePage } from './page.ts'
import { Skeleton } from './parts.tsx'
import { Tabs } from './tabs.tsx'
import { TopBar } from './top-bar.tsx'

/** Makes a list whose code is loaded when it is first shown, with empty rows until then. */
const list = <Module extends object, Name extends keyof Module>(load: () => Promise<Module>, name: Name) =>
  lazy(load, name, Skeleton)

/** Shows a view of the extras after they were loaded. */
const withExtras =
  (View: ComponentType, Waiting: ComponentType = () => null): ComponentType =>
  () =>
    usePage().extras ? <View /> : <Waiting />

// The phone works before these parts are loaded.
const PeopleView = list(() => import('./people.tsx'), 'PeopleView')
const RecentsView = list(() => import('./recents.tsx'), 'RecentsView')
const ChatsView = withExtras(
  list(() => import('./chats.tsx'), 'TalksView'),
  Skeleton,
)
const ThreadView = withExtras(
  list(() => import('./chats.tsx'), 'ThreadView'),
  Skeleton,
)
const SettingsView = withExtras(
  list(() => import('./settings.tsx'), 'SettingsView'),
  Skeleton,
)
const AccountMenu = withExtras(lazy(() => import('./account-menu.tsx'), 'AccountMenu'))
const Details = lazy(() => import('./details.tsx'), 'Details')
const RoomWaitView = lazy(() => import('./room.tsx'), 'RoomWaitView')
const HeldCalls = lazy(() => import('./held.tsx'), 'HeldCalls')
const Dialogs = lazy(() => import('./dialogs.tsx'), 'Dialogs')

/** Screen after the sign-in. */
export const Screen = ({ page }: { readonly page: Page }) => (
  <PageContext.Provider value={page}>
    <Frame />
  </PageContext.Provider>
)

const Frame = () => {
  const page = usePage()
  useFollowed(page.version)
  useFollowed(texts)
  const { ui, phone, extras } = page
  useCallFocus(page)
  const tab = ui.tab.value
  const inCall = phone.current !== undefined
  const isInRoom = phone.current?.call.room !== undefined
  const hasDetails = !isInRoom && (inCall || ui.contact.value !== undefined)
  // A room has the place of the list until the user opens a tab.
  const hasList = !ui.narrow.value && !(isInRoom && tab === 'phone')
  const wait = phone.isWaiting ? phone.rooms?.room : undefined
  const thread = tab === 'chats' && extras?.chats.thread !== undefined
  // A conversation has the middle of a wide page, unless a call is there.
  const place = !thread ? 'none' : !ui.wide.value || isInRoom ? 'list' : inCall ? 'details' : 'stage'
  const t = texts.value
  return (
    <div
      class={`app ${inCall ? 'in-call' : ''} ${hasList ? '' : 'no-list'}`}
      data-tab={tab}
      data-thread={place}
    >
      <a class="skip" href="#stage">
        {t.skipToCall}
      </a>
      <TopBar />
      <Tabs />
      {hasList && <List threadHere={place === 'list'} />}
      <main id="stage" class="stage" data-focus="stage" tabIndex={-1} aria-label={t.phoneLabel}>
        {ui.narrow.value && tab !== 'phone' ? (
          <List threadHere={place === 'list'} />
        ) : (
          <>
            {phone.lines.length > 1 && <HeldCalls />}
            {wait && phone.rooms ? (
              <RoomWaitView rooms={phone.rooms} room={wait} />
            ) : inCall ? (
              <CallView />
            ) : place === 'stage' ? (
              <ThreadView />
            ) : (
              <Dial />
            )}
          </>
        )}
      </main>
      {ui.wide.value &&
        (place === 'details' ? (
          <ThreadAside />
        ) : hasDetails ? (
          <Details />
        ) : (
          place === 'none' && !isInRoom && tab !== 'recents' && <RecentsAside />
        ))}
      <CallState />
      <div class="corner">
        <IncomingCalls />
        <Notices />
      </div>
      {ui.menu.value && <AccountMenu />}
      {ui.dialog.value && <Dialogs />}
    </div>
  )
}

const ThreadAside = () => (
  <aside class="details" aria-label={texts.value.messagesTab}>
    <ThreadView />
  </aside>
)

/** Third column of a wide page without a call or a chosen person. */
const RecentsAside = () => (
  <aside class="details recents-aside" aria-label={texts.value.recentCalls}>
    <h2 class="list-title">{texts.value.recentCalls}</h2>
    <RecentsView />
  </aside>
)

const List = ({ threadHere }: { readonly threadHere: boolean }) => {
  const { ui } = usePage()
  const t = texts.value
  const tab = ui.tab.value
  const labels = {
    phone: t.peopleTab,
    people: t.peopleTab,
    recents: t.callsTab,
    chats: t.messagesTab,
    settings: t.settingsTab,
  }
  return (
    <section class="list" aria-label={labels[tab]}>
      {threadHere ? (
        <ThreadView />
      ) : (
        <>
          <h2 class="list-title">{labels[tab]}</h2>
          {tab === 'recents' ? (
            <RecentsView />
          ) : tab === 'chats' ? (
            <ChatsView />
          ) : tab === 'settings' ? (
            <SettingsView />
          ) : (
            <PeopleView />
          )}
        </>
      )}
    </section>
  )
}
