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
const list = (load: () => Promise<ComponentType>) => lazy(load, Skeleton)

/** Shows a view of the extras after they were loaded. */
const withExtras =
  (View: ComponentType, Waiting: ComponentType = () => null): ComponentType =>
  () =>
    usePage().extras ? <View /> : <Waiting />

// The phone works before these parts are loaded.
const PeopleView = list(() => import('./people.tsx').then(({ PeopleView }) => PeopleView))
const RecentsView = list(() => import('./recents.tsx').then(({ RecentsView }) => RecentsView))
const ChatsView = withExtras(
  list(() => import('./chats.tsx').then(({ TalksView }) => TalksView)),
  Skeleton,
)
const ThreadView = withExtras(
  list(() => import('./chats.tsx').then(({ ThreadView }) => ThreadView)),
  Skeleton,
)
const SettingsView = withExtras(
  list(() => import('./settings.tsx').then(({ SettingsView }) => SettingsView)),
  Skeleton,
)
const AccountMenu = withExtras(
  lazy(() => import('./account-menu.tsx').then(({ AccountMenu }) => AccountMenu)),
)
const Details = lazy(() => import('./details.tsx').then(({ Details }) => Details))
const HeldCalls = lazy(() => import('./held.tsx').then(({ HeldCalls }) => HeldCalls))
const Dialogs = lazy(() => import('./dialogs.tsx').then(({ Dialogs }) => Dialogs))

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
  const hasDetails = inCall || ui.contact.value !== undefined
  const thread = tab === 'chats' && extras?.chats.thread !== undefined
  // A conversation has the middle of a wide page, unless a call is there.
  const place = !thread ? 'none' : !ui.wide.value ? 'list' : inCall ? 'details' : 'stage'
  const t = texts.value
  return (
    <div class={`app ${inCall ? 'in-call' : ''}`} data-tab={tab} data-thread={place}>
      <a class="skip" href="#stage">
        {t.skipToCall}
      </a>
      <TopBar />
      <Tabs />
      {!ui.narrow.value && <List threadHere={place === 'list'} />}
      <main id="stage" class="stage" data-focus="stage" tabIndex={-1} aria-label={t.phoneLabel}>
        {ui.narrow.value && tab !== 'phone' ? (
          <List threadHere={place === 'list'} />
        ) : (
          <>
            {phone.lines.length > 1 && <HeldCalls />}
            {inCall ? <CallView /> : place === 'stage' ? <ThreadView /> : <Dial />}
          </>
        )}
      </main>
      {ui.wide.value &&
        (place === 'details' ? (
          <ThreadAside />
        ) : hasDetails ? (
          <Details />
        ) : (
          place === 'none' && tab !== 'recents' && <RecentsAside />
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
