package devserver

import (
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
)

// clusterName is stored in the database and cannot change afterwards.
const clusterName = "active"

// staticConfig is the server's configuration file. Everything it omits is off: metrics, profiling, the HTTP API, TLS.
func staticConfig(db *config.SQL, p ports) *config.Config {
	return &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     sqliteplugin.PluginName,
			VisibilityStore:  sqliteplugin.PluginName,
			NumHistoryShards: 1, // SQLite has one writer; stored, cannot change afterwards
			DataStores: map[string]config.DataStore{
				sqliteplugin.PluginName: {SQL: db},
			},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {
					Enabled:                true,
					InitialFailoverVersion: 1,
					RPCAddress:             loopbackAddress(p.frontend),
				},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			string(primitives.FrontendService): serviceConfig(p.frontend),
			string(primitives.HistoryService):  serviceConfig(p.history),
			string(primitives.MatchingService): serviceConfig(p.matching),
			string(primitives.WorkerService):   serviceConfig(p.worker),
		},
		// The server's own workers find the frontend here.
		PublicClient:      config.PublicClient{HostPort: loopbackAddress(p.frontend)},
		Archival:          noArchival,
		NamespaceDefaults: noArchivalByDefault,
	}
}

// serviceConfig listens on an explicit address: BindOnLocalHost would read the environment first.
func serviceConfig(port int) config.Service {
	return config.Service{RPC: config.RPC{GRPCPort: port, BindOnIP: loopbackIP}}
}

// serviceHosts gives each service the addresses of the others. Membership by gossip would need four more ports, and
// seconds to settle.
func serviceHosts(cfg *config.Config) map[primitives.ServiceName]static.Hosts {
	hostsByService := make(map[primitives.ServiceName]static.Hosts, len(cfg.Services))
	for name, s := range cfg.Services {
		hostsByService[primitives.ServiceName(name)] = static.SingleLocalHost(loopbackAddress(s.RPC.GRPCPort))
	}
	return hostsByService
}

// The server does not start unless archival is disabled explicitly.
var (
	noArchival = config.Archival{
		History:    config.HistoryArchival{State: config.ArchivalDisabled},
		Visibility: config.VisibilityArchival{State: config.ArchivalDisabled},
	}
	noArchivalByDefault = config.NamespaceDefaults{
		Archival: config.ArchivalNamespaceDefaults{
			History:    config.HistoryArchivalNamespaceDefaults{State: config.ArchivalDisabled},
			Visibility: config.VisibilityArchivalNamespaceDefaults{State: config.ArchivalDisabled},
		},
	}
)
