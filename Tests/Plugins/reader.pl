#!/usr/bin/perl
# A second reader of `islet-step/1`, in another language and by docs/algorithms.md and docs/algorithm-fields.md alone: the ten lines of
# Python/examples/mine.py, by frames, a group at a time. Needs what perl comes with.
use strict;
use warnings;
use Compress::Zlib ();
use JSON::PP ();

binmode STDIN;
binmode STDOUT;
$| = 1;

my $hello = JSON::PP::decode_json(scalar <STDIN>);
my $gain = $hello->{parameters}{gain} // 0.3;
print JSON::PP->new->canonical->encode({
    protocol => "islet-step/1", encoding => "packed", name => "mine-perl", version => 1, basalSource => "algorithm",
    runs => "together", runtime => "perl $^V",
    parameters => [{ name => "gain", unit => "1/h", least => 0, most => 5, default => 0.3, meaning => "share of a correction an hour" }],
}), "\n";

# Where a field stands in its row, by the layout in `hello`.
my %place;
for my $row (qw(begin step)) {
    my $at = 0;
    $place{$row}{ $_->[0] } = $at++ for @{ $hello->{$row} };
}

sub exactly {
    my ($count) = @_;
    my $bytes = "";
    while (length $bytes < $count) {
        my $got = read STDIN, my $part, $count - length $bytes;
        exit 0 if !$got && $bytes eq "";
        die "half a frame\n" if !$got;
        $bytes .= $part;
    }
    return $bytes;
}

sub real { my ($row, $at) = @_; return unpack "d<", substr $row, 8 * $at, 8 }
sub whole { my ($row, $at) = @_; return unpack "q<", substr $row, 8 * $at, 8 }

my %people;
while (1) {
    my $head = exactly(16);
    my ($magic, $kind, $rows, $length) = unpack "a4 V V V", $head;
    die "no frame\n" if $magic ne "ISL1";
    my $body = exactly($length);
    die "a wrong CRC\n" if Compress::Zlib::crc32($head . $body) != unpack "V", exactly(4);
    my $width = $rows ? $length / $rows : 0;
    if ($kind == 1) {
        for my $at (0 .. $rows - 1) {
            my $row = substr $body, $at * $width, $width;
            my ($handle) = whole($row, $place{begin}{handle});
            $people{$handle} = { map { $_ => real($row, $place{begin}{$_}) } qw(basal cr cf) };
        }
    } elsif ($kind == 3) {
        my $doses = "";
        for my $at (0 .. $rows - 1) {
            my $row = substr $body, $at * $width, $width;
            my $handle = whole($row, $place{step}{handle});
            my $person = $people{$handle};
            my $cgm = real($row, $place{step}{cgm});
            my $meal = real($row, $place{step}{meal});
            my $rate = $person->{basal};
            $rate += $gain * ($cgm - real($row, $place{step}{target})) / $person->{cf} if $cgm == $cgm;
            $doses .= pack "q< q< d< d< d< d< q< d<", $handle, whole($row, $place{step}{step}),
                ($rate > 0 ? $rate : 0) / 12, 0, ($meal == $meal ? $meal : 0) / $person->{cr}, 0, 0, "nan";
        }
        my $answer = pack("a4 V V V", "ISL1", 4, $rows, length $doses) . $doses;
        print $answer, pack "V", Compress::Zlib::crc32($answer);
    }
}
