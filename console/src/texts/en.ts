import { alertsEn } from './alerts.ts'

/** English texts of the page. Functions take the values of a sentence. Keys are shared by all languages. */
export const en = {
  ...alertsEn,

  // The page
  appName: 'Trunkline',
  skipToCall: 'Skip to the call',
  mainNavigation: 'Main navigation',
  phoneTab: 'Phone',
  peopleTab: 'People',
  callsTab: 'Calls',
  messagesTab: 'Messages',
  settingsTab: 'Settings',
  tabWithNew: (name: string, count: number) => `${name}, ${count} new`,
  notLoaded: 'This part of the page could not be loaded. Reload the page, and try again.',
  loading: 'Loading…',
  tryAgain: 'Try again',
  close: 'Close',
  cancel: 'Cancel',
  dismiss: 'Dismiss',
  phoneLabel: 'Phone',
  details: 'Details',

  // Sign-in
  signInHint: 'Sign in to make and receive calls.',
  email: 'Email',
  password: 'Password',
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  rememberMe: 'Keep me signed in on this computer',
  signIn: 'Sign in',
  signingIn: 'Signing in…',
  signInMissing: 'Please enter your email and password.',
  signInWrong: 'The email or password is wrong.',
  signInForbidden: 'You are not allowed to sign in here.',
  signInLimited: 'Too many attempts. Please wait a minute, then try again.',
  signInFailed: 'Sign-in failed. Please try again.',
  signInUnreachable: 'The server cannot be reached. Please try again.',
  signInUnexpected: 'The server sent an unexpected response. Please try again.',
  signedOutElsewhere: 'You signed out in another tab.',

  // Connection
  account: (name: string) => `Account of ${name}`,
  online: 'Online',
  offline: 'Offline',
  doNotDisturb: 'Do not disturb',
  doNotDisturbHint: 'Callers hear that you are busy',
  onlineHint: 'You can be called',
  offlineHint: 'You cannot be called',
  connecting: 'Connecting…',
  notConnected: 'Not connected',
  reconnecting: 'Connection lost. Reconnecting…',
  reconnectingCall: 'Connection lost. Reconnecting the call…',
  sessionEnded: 'Your session has ended. Please sign in again.',
  serverUnreachable: 'The server cannot be reached. Please try again.',
  connectionFailed: 'The connection failed. Please try again.',
  callsWouldFail: 'Calls will fail: the microphone does not work.',
  checkDevices: 'Check devices',

  // States of a call
  preparing: 'Preparing the call…',
  calling: 'Calling…',
  ringing: 'Ringing…',
  onHold: 'On hold',
  heldByOthers: 'On hold by the other side',
  ready: 'Ready',
  inCallWith: (name: string) => `In call with ${name}`,

  // Incoming calls
  incomingTyping: (name: string) => `Incoming call from ${name}. Press Control Shift A to answer.`,
  answering: 'Answering…',
  answerCall: (name: string) => `Answer the call from ${name}`,
  answerWithVideo: 'Answer with video',
  declineCall: (name: string) => `Decline the call from ${name}`,
  answerHolds: 'Your current call is put on hold.',
  unknownCaller: 'an unknown caller',
  missedFrom: (name: string) => `Missed call from ${name}.`,
  answeredElsewhereFrom: (name: string) => `The call from ${name} was answered on another device.`,
  declinedFrom: (name: string) => `Declined the call from ${name}.`,

  // Placing calls
  newCall: 'New call',
  whoToCall: 'Name, number or address',
  call: 'Call',
  videoCall: 'Video call',
  callAgain: 'Call again',
  callPerson: (name: string) => `Call ${name}`,
  showKeypad: 'Show dial pad',
  hideKeypad: 'Hide dial pad',
  deleteLast: 'Delete the last character',
  keypad: 'Keypad',
  suggestions: 'Suggestions',
  suggestionCount: (count: number) => (count === 1 ? '1 suggestion' : `${count} suggestions`),
  wanted: 'Enter a name, a number, or an address such as /public/bob or sip:bob@example.com.',
  noMatch: (typed: string) => `No match for “${typed}” in the address book.`,
  addressBookFailed: 'The address book could not be loaded. Please try again.',
  badAddress: 'This address cannot be called. Check it, then try again.',

  // The current call
  currentCall: 'Current call',
  mute: 'Mute',
  unmute: 'Unmute',
  video: 'Video',
  stopVideo: 'Stop video',
  share: 'Share',
  stopSharing: 'Stop sharing',
  hold: 'Hold',
  resume: 'Resume',
  hangUp: 'Hang up',
  sentKeys: 'Sent',
  receivedKeys: 'Received',
  yourLevel: 'Microphone level',
  theirLevel: 'Level of the other party',
  qualityNone: 'No audio arrives',
  qualityBad: 'Bad connection',
  qualityFair: 'Fair connection',
  qualityGood: 'Good connection',
  callTime: 'Duration of the call',

  // Ends of calls
  ended: 'Call ended.',
  endBusy: 'The line is busy. Try again later.',
  endDeclined: 'The call was declined.',
  endNoAnswer: 'No answer.',
  endNotOnline: 'This person is not online.',
  endUnknownAddress: 'This address does not exist. Check it, then try again.',
  endNotPermitted: 'You are not allowed to call this address.',
  endAnsweredElsewhere: 'The call was answered on another device.',
  endCanceled: 'The call was cancelled.',
  endMediaLost: 'Call failed: the audio was lost.',
  endNoMedia: 'No audio connection was possible. Try another network, or ask your administrator.',
  endConnectionLost: 'Call failed: connection lost.',
  endMicrophoneRefused: 'The microphone is blocked. Allow it for this page in the browser, then try again.',
  endMicrophoneMissing: 'No microphone found. Connect one, then try again.',
  endMicrophoneFailed: 'The microphone is not available. Close other programs that use it, then try again.',
  endInsecure: 'The browser allows calls only on https pages. Open this page with https.',
  endScreenFailed: 'The screen could not be shared. Please try again.',
  endUnsupported: 'This browser does not support this.',
  endNoCapability: 'This call does not support this.',
  endTimeout: 'The server did not respond. Please try again.',
  endNoRoute: 'This number or address cannot be reached.',
  endNoCarrier: 'Calls to phone numbers are not set up here. Ask your administrator.',
  endCongestion: 'Too many calls at the moment. Please try again later.',
  endMediaTimeout: 'The call ended because no audio arrived.',
  endMaxDuration: 'The call reached its maximum duration.',
  endNoFormat: 'The other party supports no available audio format.',
  endPartyLost: 'The other party lost the connection.',
  endFailed: 'The call failed.',
  endNotCompleted: 'The call could not be completed.',
  changeFailed: 'The change failed. Please try again.',
  keyFailed: (key: string) => `The key ${key} could not be sent.`,
  microphoneGone: 'The microphone was disconnected. Choose another one in Settings.',
  cameraGone: 'The camera is not available. Choose another one in Settings.',

  // Transfer
  transfer: 'Transfer',
  add: 'Add',
  callingPerson: (name: string) => `Calling ${name}…`,
  addFailed: 'The person could not be added. The call continues.',
  transferDone: 'The call was transferred.',
  transferFailed: 'The transfer failed. The call continues.',

  // People

  // Past calls
  recentCalls: 'Recent calls',
  outgoing: 'Outgoing',
  incoming: 'Incoming',
  missed: 'Missed',

  // Messages
  message: 'Message',
  send: 'Send',

  // Settings
  microphone: 'Microphone',
  camera: 'Camera',
  speaker: 'Speaker',
  system: 'System',
  light: 'Light',
  dark: 'Dark',
  language: 'Language',
  languageOfBrowser: 'As the browser',
} as const

type Shape<Entry> = Entry extends (...values: infer Values) => string ? (...values: Values) => string : string

/** Texts in any language with the keys of an English catalogue. */
export type TextsOf<English> = { readonly [Key in keyof English]: Shape<English[Key]> }

/** Catalogue of one language. */
export type Texts = TextsOf<typeof en>
