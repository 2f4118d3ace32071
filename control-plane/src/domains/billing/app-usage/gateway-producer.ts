/** Names the platform's own gateways among the producers of app usage. Nobody else may report under it. */
export const GATEWAY_PRODUCER = 'app-gateway';
