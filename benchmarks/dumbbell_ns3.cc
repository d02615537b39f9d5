// The rows of benchmarks/library.py in ns-3: greedy CUBIC flows through one bottleneck. Prints the flows' sum in Mbit/s
// from the first to the last byte.
//
// Usage: dumbbell_ns3 PAIRS STREAMS RATE_MBPS DELAY_MS QUEUE_PACKETS DURATION_S
#include <ns3/applications-module.h>
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>
#include <cstdlib>
#include <iostream>

using namespace ns3;

int main(int count, char** words)
{
    if (count != 7)
    {
        std::cerr << "usage: dumbbell_ns3 PAIRS STREAMS RATE_MBPS DELAY_MS QUEUE_PACKETS DURATION_S\n";
        return 2;
    }
    const uint32_t pairs = std::atoi(words[1]), streams = std::atoi(words[2]), queue = std::atoi(words[5]);
    const double rate_mbps = std::atof(words[3]), delay_ms = std::atof(words[4]), duration_s = std::atof(words[6]);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpCubic"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    // Neither end's buffer limits, as with Linux's own tuning of them.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(64 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64 << 20));

    NodeContainer routers(2), left(pairs), right(pairs);
    InternetStackHelper internet;
    internet.InstallAll();
    PointToPointHelper access, bottleneck;
    access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(100e9))));
    access.SetChannelAttribute("Delay", StringValue("1us"));
    bottleneck.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(rate_mbps * 1e6))));
    bottleneck.SetChannelAttribute("Delay", TimeValue(MicroSeconds(uint64_t(delay_ms * 1e3))));
    // The queue is the device's own: no queue discipline above it.
    bottleneck.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    TrafficControlHelper none;
    auto join = [&](PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer devices = link.Install(a, b);
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        none.Uninstall(devices);
        addresses.NewNetwork();
        return interfaces;
    };
    join(bottleneck, routers.Get(0), routers.Get(1));
    ApplicationContainer sinks;
    for (uint32_t k = 0; k < pairs; k++)
    {
        join(access, left.Get(k), routers.Get(0));
        const Ipv4Address there = join(access, right.Get(k), routers.Get(1)).GetAddress(0);
        sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001)).Install(right.Get(k)));
        BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(there, 5001));
        for (uint32_t j = 0; j < streams; j++)
        {
            sender.Install(left.Get(k));
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Simulator::Stop(Seconds(duration_s));
    Simulator::Run();
    double bytes = 0;
    for (uint32_t k = 0; k < pairs; k++)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(k))->GetTotalRx();
    }
    std::cout << bytes * 8 / 1e6 / duration_s << std::endl;
    Simulator::Destroy();
    return 0;
}
